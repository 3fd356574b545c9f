## locale C
#### here-document plain
x=1
cat <<E
a $x $(echo b) `echo c` $((1+1)) ${x:-d} \$x \\ \` "q" 'r'
E
#### here-document quoted
cat <<'E'
a $x $(echo b) \$x \\ "q"
E
cat <<"E"
$y
E
cat <<\E
$z
E
#### here-document tabs
	cat <<-E
		two
	one
	 sp
	E
cat <<-'E'
	$x
	E
#### here-documents two on a line
cat <<A; cat <<B
a
A
b
B
cat <<A - <<B
first
A
second
B
#### here-document in a pipeline
cat <<E | tr a-z A-Z
hi
E
cat <<E |
low
E
sed s/l/L/
#### here-document in a function and a loop
f() { cat <<E
$1
E
}
f x
for i in 1 2; do cat <<E
i=$i
E
done
while read l; do echo "<$l>"; done <<E
p
q
E
#### here-document in a substitution
x=$(cat <<E
in $((1+2))
E
)
echo "$x"
echo "$(cat <<'E'
)"'
E
)"
#### here-document ended by the end
cat <<E
never closed
#### here-document in if and case
if true; then cat <<E
t
E
else cat <<F
f
F
fi
case a in a) cat <<E
case
E
;; esac
#### here-document with a joined line
cat <<E
a\
b
c\\
d
E
#### here-document descriptor
cat 3<<E <&3
three
E
exec 4<<E
four
E
cat <&4
#### here-document delimiter odd
cat <<'a b'
x
a b
cat <<E"F"
y
EF
cat <<$x
z
$x
#### here-document with arrays
a=(1 "2 3"); set -- p "q r"
cat <<E
${a[@]} ${a[*]} $@ $* ${#a[@]} "${a[1]}" '${a[0]}' ${a[@]/2/x} {1..3} ~ *
E
#### continuation lines
echo a \
  b
x=a\
b
echo $x "c\
d" 'e\
f'
true &&
 echo and
false ||

 echo or
echo p |
 cat
#### comments
# one
echo a # two
echo b #three
echo c#four
: # \
echo d
if true # five
then # six
 echo e # seven
fi # eight
#### functions over lines
f()
{
 echo f $LINENO
}
function g
{
 echo g
}
function h {
 echo h
}
k() (
 echo k
)
f; g; h; k
declare -f f g k
#### compound commands over lines
if
 true
then
 echo 1
elif
 false
then
 echo 2
else
 echo 3
fi
for i in a \
 b
do
 echo $i
done
for i
in x
do echo $i
done
while
 false
do
 :
done
case x
in
 a|
 b) echo no
 ;;
 x)
 echo x
 ;;
esac
{
 echo g
}
(
 echo s
)
[[ a == a &&
 b == b ]] && echo c
((
 1 +
 1
)) && echo d
a=(
 1 # c
 2
)
echo ${a[@]}
#### line numbers
echo $LINENO
nosuch1

nosuch2; echo $LINENO
f() {
 nosuch3
 echo $LINENO
}
f
x=$(
 nosuch4)
(
 nosuch5
)
nosuch6 \
 a
if true; then
 nosuch7
fi
echo "a
b" $LINENO
cat <<E
$LINENO
$(nosuch8)
E
nosuch9
#### errors of several lines
echo a
unset x
(: ${x?sub})
echo $?
for i in 1; do
 cd nosuch
 ((1/0))
 [ 1 -eq a ]
 declare -r q=1
 q=2
done
echo end
#### exit in the middle
trap 'echo bye $?' EXIT
echo a
exit 3
echo b
#### set -e in functions
set -e
f() {
 false
 echo no
}
if f; then echo yes; fi
f || echo or
f
echo never
#### nested quotes
echo "$(echo "$(echo "a 'b' \"c\"")")"
echo "${x:-"$(echo "d e")"}"
echo "`echo "\`echo f\`"`"
x='a"b'
echo "$x" '"' "'" "\"" "${x%\"*}"
#### aliases
shopt -s expand_aliases
alias e='echo aliased' n=' e' t='echo tail '
e 1
alias x2='e 2'
x2
n e
t e
unalias e
e 3
f() { x2; }
f
\x2
'x2'
alias if2='if true; then'
if2 echo kw; fi
#### select over lines
select x in one two; do
 echo "$x"
 [ "$x" = two ] && break
done <<E
1
2
E
#### getopts of long and short
set -- -a --long val -b 2 rest
while [ $# -gt 0 ]; do
 case $1 in
 -a) echo a; shift;;
 --long) echo "long $2"; shift 2;;
 -b) echo "b $2"; shift 2;;
 --) shift; break;;
 *) break;;
 esac
done
echo "$@"
#### trap and signals
trap 'echo usr1' USR1
trap 'echo int; exit 5' INT
kill -USR1 $$
echo between
kill -INT $$
echo never
#### traps in subshells and functions
trap 'echo parent exit' EXIT
( trap 'echo child exit' EXIT; echo in child )
f() { trap 'echo f return' RETURN; echo in f; }
f
f
trap - RETURN
#### debug trap over lines
trap 'echo "line $LINENO: $BASH_COMMAND"' DEBUG
x=1
if [ $x = 1 ]; then
 echo yes
fi
for i in a; do echo $i; done
#### coprocess
coproc P { while read l; do echo "got $l"; done; }
echo a >&${P[1]}
read r <&${P[0]}
echo "$r"
exec {P[1]}>&-
#### file descriptors
exec 3>out 4>&1
echo to3 >&3
echo to4 >&4
exec 3>&- 4>&-
cat out
exec 5<out
while read -u 5 l; do echo "l:$l"; done
exec 5<&-
#### recursion with arrays
walk() { local n=$1 i; for ((i=0;i<n;i++)); do echo "$n.$i"; walk $((n-1)); done; }
walk 3
#### associative arrays
declare -A m=([one]=1 [two]=2 [three]=3)
for k in "${!m[@]}"; do echo "$k ${m[$k]}"; done | sort
unset 'm[two]'
echo ${#m[@]} ${m[one]:-none} ${m[two]:-none}
[[ -v m[one] ]] && echo has
m+=([four]=4)
for v in "${m[@]}"; do echo $v; done | sort
#### temp files and cleanup
d=$(mktemp -d)
trap 'rm -rf "$d"; echo cleaned' EXIT
echo x > "$d/f"
cat "$d/f"
#### string building
s=
for i in 1 2 3; do s+=$i,; done
echo "${s%,}"
printf -v p '%03d' 7
echo $p
IFS=, read -ra parts <<< "$s"
echo "${#parts[@]} ${parts[1]}"
