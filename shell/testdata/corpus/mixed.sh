# Scripts that use much of the language at once.

#### g1
# word-eval
foo() { echo $#; }; s1='1 2'; foo $s1$s1 "$s1"$s1; foo a$s1"b"; for i in a$s1'c d'e; do echo "[$i]"; done

#### g2
argv() { printf '<%s>' "$@"; echo; }; s='a b c d'; argv ${s// /_} ${s%% *} "${s#* }"; argv "${@:-x y}" ${@:-x y}; set -- 'a b' c; argv $* "$*" $@ "$@" x"$@"y

#### g3
argv() { printf '<%s>' "$@"; echo; }; IFS='-_'; s='a-b_c--d'; argv $s; IFS='-'; argv $s ${s}x; IFS=; argv $s; unset IFS; argv $s; IFS='\'; s='a\b'; argv $s; IFS=$' \t'; s=$'a\tb \t c'; argv $s

#### g4
argv() { printf '<%s>' "$@"; echo; }; x='a  b'; argv ${x:-'q  r'} ${y:-'q  r'} ${y:-q  r} ${y:-"q  r"} "${y:-'q  r'}" "${y:-"q  r"}" ${y:-$x} "${y:-$x}" ${y:-"$x"}; IFS=x; argv ${y:-1x2} ${y:-"1x2"} a${y:-1x2}b

#### g5
# command sub
echo $(echo a; echo b) "$(echo a; echo b)" $(printf 'a\n\n\n')x "$(printf '\n\na\n\n')"; x=$(false); echo $?; echo `echo \`echo nested\`` `echo "\\\\"` `echo '\\'` $(echo "\\\\") `echo \$HOME` "`echo \"q\"`"

#### g6
echo "$(echo "$(echo "a b")" 'c d')" $(case x in x) echo case;; esac) $(( $(echo 1) + 2 )) $(echo $((1+$(echo 2)))); f() { echo "$(local x=5; echo $x)"; }; f; x=$(cat <<E
heredoc $((1+1))
E
); echo "$x"; echo $(echo ')') "$(echo ')')" $(echo \)) $( # comment )
echo ok )

#### g7
# quotes
echo 'a'"b"c\d "a\\b" "a\$b" "a\"b" 'a\b' "a\nb" $'a\nb' "a
b" 'c
d' \
e "x\
y" 'x\
y'; echo "a$" "$ a" $ "a\ b" \$x '$x' "\`"

#### g8
# here docs
cat <<EOF1; cat <<EOF2
one
EOF1
two
EOF2
cat <<'EOF' | while read l; do echo "[$l]"; done
a b
c "d"
EOF
if cat <<X
in if
X
then echo y; fi
while read x; do echo $x; done <<X
l1
l2
X
f() { cat <<X
$1
X
}; f arg; cat << "A B"
quoted delim
A B
cat <<-'T'
	$notexp
	T
cat <<E
\$x \` \\ \a \"
${x:-"q"} ${x:-'q'} "$(echo "hi")" `echo bq`
E

#### g9
# case
case a in a) echo 1;; a) echo 2;; esac; case b in a|b|c) echo abc;; esac; case '*' in \*) echo star;; *) echo no;; esac; case "$x" in '') echo empty;; esac; case a.b in *.*) echo dot;; esac; case abc in [a-c]*) echo r;; esac; case x in (x) echo paren;; esac; case 1 in 1) echo a;& 2) echo b;;& 3) echo c;; *) echo d;; esac; x='a*'; case 'a*' in $x) echo m1;; esac; case abc in "$x") echo m2;; $x) echo m3;; esac; case a in a) ;; esac; echo $?; case z in a) ;; esac; echo $?

#### g10
# [[ ]]
[[ a ]] && echo 1; [[ '' ]] || echo 2; [[ -z '' && -n a ]] && echo 3; [[ a == a && ( b == c || d == d ) ]] && echo 4; [[ abc == a* ]] && echo 5; [[ abc == "a*" ]] || echo 6; [[ 'a*' == "a*" ]] && echo 7; [[ a < b ]] && echo 8; [[ b > a ]] && echo 9; [[ 2 -lt 10 ]] && echo 10; [[ 1+1 -eq 2 ]] && echo 11; x=5; [[ x -eq 5 ]] && echo 12; [[ ! a == b ]] && echo 13; [[ a != b ]] && echo 14; [[ a = a ]] && echo 15; p='a?c'; [[ abc == $p ]] && echo 16; [[ abc == "$p" ]] || echo 17; [[ -n $nope ]] || echo 18; [[ $nope == '' ]] && echo 19; v='a b'; [[ $v == 'a b' ]] && echo 20; [[ a -eq a ]] ; echo $?; [[ 3 -gt 08 ]]; echo $?

#### g11
# regex
[[ abc123 =~ ([a-z]+)([0-9]+) ]] && echo "${BASH_REMATCH[@]}"; [[ foo =~ ^f.o$ ]] && echo y; re='a|b'; [[ xbx =~ $re ]] && echo ${BASH_REMATCH}; [[ a.b =~ a\.b ]] && echo dot; [[ axb =~ a"."b ]] || echo lit; [[ 'a b' =~ a\ b ]] && echo sp; [[ aaa =~ a{2} ]] && echo ${BASH_REMATCH[0]}; [[ "a
b" =~ a.b ]] && echo nl; [[ x =~ [[:alpha:]] ]] && echo cls; [[ ']' =~ []] ]] && echo br; [[ abc =~ b ]]; echo "${BASH_REMATCH[0]} ${#BASH_REMATCH[@]}"; [[ abc =~ z ]]; echo "${#BASH_REMATCH[@]}"; [[ abcabc =~ (a)(x)?(b) ]]; declare -p BASH_REMATCH

#### g12
[[ foobar =~ (foo|foob)(ar|bar) ]]; echo "${BASH_REMATCH[*]}"; [[ $'a\tb' =~ [[:space:]] ]] && echo sp; [[ a+b =~ a\+b ]] && echo plus; x='^a'; [[ '^a' =~ "$x" ]] && echo q; [[ abc =~ ^(a(b(c))) ]] && echo ${BASH_REMATCH[3]}; [[ "" =~ ^$ ]] && echo emp; [[ ab =~ a.*|b ]]; echo $BASH_REMATCH; [[ 12-34 =~ ^[0-9]+-[0-9]+$ ]] && echo num; [[ é =~ . ]]; echo ${#BASH_REMATCH}

#### g13
# loops
for i in 1 2 3 4 5; do [ $i = 2 ] && continue; [ $i = 4 ] && break; echo $i; done; for ((i=0,j=10;i<3;i++,j--)); do echo $i $j; done; i=0; while ((i++<3)); do echo w$i; done; until ((i--<=2)); do echo u$i; done; for x in; do echo no; done; for x in "" a; do echo "[$x]"; done; for i in 1 2; do for j in a b; do [ $j = b ] && continue 2; echo $i$j; done; done; for ((;;)); do break; done; while true; do while true; do break 2; done; done; echo $i

#### g14
set -- x y; for a; do echo $a; done; for a do echo $a; done; for ((i=0;i<2;i++)) { echo b$i; }; for a in 1 2; { echo c$a; }; select_() { :; }; while read -r l; do echo "$l"; break; done < <(printf '1\n2\n'); echo $?; for i in 1; do false; done; echo $?; while false; do :; done; echo $?

#### g15
# assign
a=1 b=$a c=$b; echo $a$b$c; x=1 y=2 eval 'echo $x$y'; echo "[$x$y]"; a+=2; echo $a; declare d=5 e; echo $d$e; export F=6; (echo $F); f() { a=loc; }; a=glob f; echo $a; IFS=: read p q <<< 1:2; echo $p$q; a= b= ; echo "[$a$b]"; x=a y=b; x=$y y=$x; echo $x$y; a=~; [ "$a" = "$HOME" ] && echo home

#### g16
x=5 echo $x; x=6; x=7 echo $x; f() { echo in$x; }; x=8 f; echo $x; x=9 true; echo $x; x=10 : ; echo $x; y=1 z=$y; echo $z; unset y; y=2 env | while read l; do case $l in y=*) echo $l;; esac; done; A=1 B=2 C=$A$B eval 'echo $C'

#### g17
# subshell & vars
x=1; (x=2; echo $x); echo $x; { x=3; }; echo $x; echo $BASH_SUBSHELL $(echo $BASH_SUBSHELL) $( (echo $BASH_SUBSHELL) ); (exit 5); echo $?; (f() { echo sub; }; f); f 2>/dev/null; echo $?; cd /; (cd /; pwd); pwd; (set -e; false; echo no); echo $?; x=$(y=5; echo $y)$y; echo $x

#### g18
# special vars
echo $# $? $0 "$-"; set -- a b; echo $#; f() { echo $# $0; }; f x; true; echo $?; false; echo $?; echo ${#} ${?} "$*"; echo $_; echo a b; echo $_; : x y z; echo $_; f() { :; }; f q; echo $_; [ 1 = 1 ]; echo $_; x=5; echo "[$_]"; echo $LINENO; [ "$PPID" -gt 0 ] && echo ppid; [ $$ -gt 1 ] && echo pid; [ "$BASHPID" = $$ ] && echo same; (echo "$((BASHPID != $$))")

#### g19
echo $SHLVL $BASH_VERSION $HOSTTYPE $OSTYPE $MACHTYPE ${BASH_VERSINFO[0]} $IFS | cat; echo ${#RANDOM} >/dev/null; [ $RANDOM != $RANDOM ] && echo rnd; [ ${#EPOCHSECONDS} -ge 10 ] && echo es; [[ $EPOCHREALTIME == *.?????? ]] && echo er; echo $SECONDS $UID $EUID ${GROUPS[0]} $OPTIND $OPTERR; echo "${DIRSTACK[@]}" >/dev/null; echo $PS4 ; echo ${PS1-unset} ${PS2-unset}

#### g20
# nested functions, recursion with locals, dynamic scope, unset in fn
f() { local a=1; g; echo "f:$a"; }; g() { a=2; local a=3; h; echo "g:$a"; }; h() { echo "h:$a"; a=4; }; a=0; f; echo $a; f() { unset a; a=5; }; f; echo $a; f() { local x; x=1; unset x; echo ${x-unset}; x=2; }; x=g; f; echo $x

#### g21
# printf -v arrays, declare -g, local -r, export -f
f() { declare -g G=1; declare L=2; }; f; echo $G [$L]; f() { local x=a; declare -g x=b; echo $x; }; f; echo $x; g() { echo exported; }; export -f g; bash -c g; export -fn g; bash -c g; echo $?; declare -x E=1; bash -c 'echo $E'; declare +x E; bash -c 'echo [$E]'; export -n G; export -p | while read a b c; do case $c in H*) ;; esac; done

#### g22
bash -c 'echo $0 $1 $#' n a b; bash -c 'exit 3'; echo $?; bash -ec 'false; echo no'; echo $?; bash -c 'echo $-' ; echo 'echo from stdin $1' | bash -s arg; printf 'echo script $0 $1\n' > s.sh; bash s.sh x; . ./s.sh y; source ./s.sh; chmod +x s.sh; ./s.sh z; bash -x -c 'echo traced'; bash -u -c 'echo $nope'; echo $?; sh -c 'echo sh $0'; bash nofile; echo $?

#### g23
printf '#!/bin/bash\necho "$0 $1"; exit 7\n' > a; chmod +x a; ./a q; echo $?; printf '#!/bin/sh\necho sh $#\n' > b; chmod +x b; ./b 1 2; printf '#!/usr/bin/env bash\necho env $BASH_VERSION\n' > c; chmod +x c; ./c; printf 'echo noshebang $1\n' > d; chmod +x d; ./d w; printf '#!/nope/x\n' > e; chmod +x e; ./e; echo $?; touch f; ./f; echo $?; chmod +x f; ./f; echo $?; mkdir g; ./g; echo $?; PATH=$PWD:$PATH; a z; echo $?

#### g24
# source
cat > lib.sh <<'E'
echo "lib $1 $# ${BASH_SOURCE[0]} ${FUNCNAME[0]}"
v=set
lf() { echo "lf ${BASH_SOURCE[0]} $LINENO"; }
return 4
echo no
E
. ./lib.sh; echo $? $v; source ./lib.sh a b; echo $#; lf; set -- p; . ./lib.sh; f() { . ./lib.sh; echo "f $?"; }; f; PATH=$PWD:$PATH . lib.sh; . /nofile; echo $?; echo 'false' > e.sh; . ./e.sh; echo $?

#### g25
# eval
eval 'echo a' 'b'; eval; echo $?; x='echo $y'; y=5; eval $x; eval "eval 'echo deep'"; eval 'f() { echo evf; }'; f; eval 'for i in 1 2; do
echo $i
done'; eval "x=1;y=2"; echo $x$y; eval false; echo $?; eval 'exit_() { return 3; }; exit_'; echo $?; cmd='echo "a  b"'; $cmd; eval "$cmd"; eval 'echo "unclosed'; echo $?; eval 'if'; echo $?

#### h2
mkfifo p; echo hi > p & cat p; wait; (read x < p; echo "got $x") & echo msg > p; wait; exec 3<>p; echo a >&3; read y <&3; echo $y

#### h3
# cd/pwd/pushd
mkdir -p a/b/c; cd a; pwd; cd b/c; pwd; cd ..; pwd; cd -; cd "$OLDPWD"; pwd; cd; [ "$PWD" = "$HOME" ] && echo home; cd //w 2>/dev/null; ln -s a/b ln 2>/dev/null; cd /; pwd; cd //; pwd; cd /./..; pwd; cd ""; echo $?; (cd /nope); echo $?

#### h4
mkdir x y z; pushd x >/dev/null; pushd ../y >/dev/null; dirs | cat >/dev/null; echo ${#DIRSTACK[@]}; popd >/dev/null; popd >/dev/null; popd; echo $?; pushd; echo $?; dirs -c; pushd -n /tmp >/dev/null; echo ${DIRSTACK[1]}; cd ~ ; dirs; pushd / ; dirs -v; dirs -p; dirs +1; dirs -0; popd; dirs -l

#### h5
mkdir d; ln -s d l; cd l; pwd | while read p; do echo ${p##*/}; done; pwd -P | while read p; do echo ${p##*/}; done; cd ..; cd -P l; pwd | while read p; do echo ${p##*/}; done; CDPATH=..; cd d 2>/dev/null | while read p; do echo ${p##*/}; done; set -P; cd ../l; pwd | while read p; do echo ${p##*/}; done

#### h6
# type command hash
f() { :; }; alias al=x; type f al if echo cat 2>&1; type -t f if echo cat nope; type -a echo | head -1; type -p cat echo; type -P cat; command -v f echo cat if nope al; echo $?; command -V echo; hash -r; cat </dev/null; hash -t cat; command echo hi; builtin echo bi; echo() { builtin echo fake; }; echo; command echo real; unset -f echo

#### h7
# set / shopt output
set -o | head -3; set +o | head -3; shopt | head -2; shopt -p extglob; shopt -s extglob; shopt -q extglob; echo $?; shopt -u extglob; shopt -q extglob; echo $?; set -f; echo $-; set +f; set -o noglob; [[ -o noglob ]] && echo on; set +o noglob; shopt -o noglob; shopt -so noglob; shopt -o noglob; echo $SHELLOPTS; echo ${BASHOPTS%%:*}

#### h8
# declare output
declare -i a=1; declare -r b=2; declare -x c=3; declare -l d=ABC; declare -u e=abc; declare -a f=(1); declare -A g=([k]=v); declare -n h=a; declare -t i=4; declare -p a b c d e f g h i; f1() { local x=1; local -i y=2; local; declare -p x y; }; f1; declare -p nope; readonly -p | head -2; export -p | head -1; declare -f nofunc; echo $?

#### h9
x=1; x() { :; }; unset x; echo ${x-u}; type -t x; unset x; type -t x; echo $?; unset -v y; unset -f y; echo $?; a=(1 2 3); unset a[1] 'a[0]'; echo ${!a[@]}; unset a[9]; echo $?; declare -A m=([x y]=1); unset 'm[x y]'; echo ${#m[@]}; unset ""; echo $?; readonly r=1; unset r; echo $?; unset a; echo ${#a[@]}

#### h10
# let, ((
let x=5 y=x*2; echo $x $y $?; let "z = 0"; echo $?; ((x>3)) && echo y; ((0)) || echo n; ((x++, y--)); echo $x $y; (( x = y = 7 )); echo $x$y; let 'a=1' 'b = a + 1'; echo $b; ((x+=1)); echo $x; if ((x==8)); then echo eq; fi; echo $((x<<2)) $((x>>1)) $((x&3)) $((x|1)) $((x^2)); ((a[2]=5)); echo ${a[2]}; let i++; echo $i; let i--; echo $?

#### h11
# IFS & read/for/while combos
while IFS= read -r line; do echo "<$line>"; done <<< $'  a  b \n\\n\n'; printf 'k1=v1;k2=v2' | while IFS='=' read -r -d ';' k v || [ -n "$k" ]; do echo "$k:$v"; done; IFS=, read -ra parts <<< 'a,b c,d'; printf '[%s]' "${parts[@]}"; echo; echo 'a b' | (read x; echo ${x% *})

#### h12
# string ops common
s="Hello World"; echo ${#s} ${s,,} ${s^^} ${s:0:5} ${s: -5} ${s/World/There} ${s//o/0} ${s#Hello } ${s%World}; [[ $s == *World ]] && echo ends; [[ $s == Hello* ]] && echo starts; [[ $s =~ W(.*)d ]] && echo ${BASH_REMATCH[1]}; p=/a/b/file.tar.gz; echo ${p##*/} ${p%/*} ${p%%.*} ${p##*.}; f=${p##*/}; echo ${f%.*} ${f%%.*}; printf '%s\n' ${s// /_}; echo "${s:1:-1}"; rev=; for ((i=${#s}-1;i>=0;i--)); do rev+=${s:i:1}; done; echo $rev

#### h14
# time keyword, ! and pipes
! true; echo $?; ! false; echo $?; ! true | false; echo $?; time -p true 2>/dev/null; { time true; } 2>/dev/null; echo $?; TIMEFORMAT='x'; time true; TIMEFORMAT=; time false; echo $?; true && ! false && echo ok; ! { false; }; echo $?; ! (exit 3); echo $?; if ! false; then echo if; fi; while ! true; do :; done

#### h15
# echo/printf oddities
echo -n a; echo -e 'b\tc\n'; echo -E 'd\n'; echo -ne 'x\n'; echo -nE 'y\n'; echo; echo -- a; echo - a; echo -x a; echo -e '\x41\0101\101\e[0m\c hidden'; echo; echo -e 'a\\b' '\a' | cat; echo "-n"; echo '-e' 'q\n'; echo -en; echo -e '\u41\U42'; echo $'-n' z

#### h16
umask 077; touch u1; umask; umask 0; umask 22; umask -S; umask g+w; umask; umask -p; umask u=rwx,go=rx; umask; (umask 0); umask; umask a-r; umask; umask 022; umask x; echo $?

#### h17
trap 'echo T' EXIT; (echo sub); f() { exit 4; }; (f); echo $?; x=$(exit 5); echo $?; { exit 6; }

#### h18
exit 256

#### h19
exit -1

#### h20
(exit 300); echo $?; false; exit

#### h21
# noclobber, append, misc redirs to fds
set -o noclobber; echo a > n; echo b > n; echo $?; echo c >> n; cat n; echo d >| n; cat n; echo e &> n; echo $?; : > /dev/null; echo $?; set +o noclobber; echo z > n; { echo 1; echo 2 >&2; } &> both; cat both; { echo 1; echo 2 >&2; } > b2 2>&1; cat b2; ls nope > o 2>&1; wc -l < o

#### h22
compgen -W "apple bat app" ap; compgen -b ec; compgen -k wh; compgen -v BASH_VERSI; compgen -A function; f() { :; }; compgen -A function; touch aa1 aa2; compgen -f aa; compgen -P '<' -S '>' -W 'x y'; compgen -d /nope; echo $?; complete -W "a b" foo; complete -p; complete -r foo; complete -p foo; echo $?

#### h23
caller; f() { g; }; g() { caller 0; caller 1; caller; echo "${FUNCNAME[@]}" "${BASH_LINENO[@]}" "${BASH_SOURCE[@]}"; }
f
echo "${FUNCNAME[@]}" ${#BASH_SOURCE[@]}

#### h24
a=5; a=$((a+1)) ; echo $a; b=$(( a > 3 ? 10 : 20 )); echo $b; c=$((0x1f + 010 + 2#11)); echo $c; echo $(( 1 , 2 )) $(( -5 / 2 )) $(( -5 % 3 )) $(( 2 ** 3 ** 2 )); n=08; echo $((10#$n)); x=; echo $((x)) $((x+1)); echo $(( 'a' )) ; echo $?

#### i1
# oils: append
a=x; a+=y; a+=(z); declare -p a; s=1; s+=1; declare -i s; s+=1; echo $s; b[2]+=q; b[2]+=r; declare -p b; f() { local x=1; x+=2; echo $x; }; f; readonly ro=x; ro+=y; echo no

#### i2
# oils: arith-context
a=(1 2 3); i=1; echo ${a[i]} ${a[i+1]} ${a[$i]} ${a[$((i+1))]}; a[i+1]=9; echo ${a[2]}; x=i; echo ${a[x]}; b='a[1]'; echo $((b)); ((a[i]+=10)); echo ${a[1]}; a[i++]=z; echo $i; s=abcdef; echo ${s:i:i+1} ${s:$i:1}; j='1+1'; echo $((j*2)) $(($j*2)); [[ j -eq 2 ]] && echo eq; declare -i n='2*3'; echo $n; echo ${a['1']}

#### i3
# assign-extended
f() { local "a=b c" d=$1; echo "$a|$d"; x='1 2'; local e=$x; echo "$e"; export g=$x; echo "$g"; readonly h=$x; declare k=$x l="$x y"; echo "$h|$k|$l"; }; f 'p q'; v='m=1 n=2'; export $v; echo $m $n; declare $v; w=name; declare "$w=val"; echo $name; export "w2=a b"; echo $w2; typeset t=5; echo $t; declare -p m | cat

#### i4
# builtin-bracket
[ -e / ] && echo e; [ -d / -a -r / ] && echo and; [ ! -f / ] && echo notf; [ 1 -lt 2 -o 1 -gt 2 ] && echo or; [ a ] && echo nonempty; [ "" ] || echo empty; [ -n a -a ! -z a ] && echo c; [ ! a ] || echo neg; [ "(" = "(" ] && echo paren; [ -f ] && echo f1; [ = = = ] && echo eq; [ a \< b ] && echo lt; test -n "" || echo tn; [ -t 0 ] || echo not; [ ! ! a ]; echo $?; [ -z ] && echo z1; test; echo $?; [ ]; echo $?; [ 'a' == 'a' ] && echo eq2; [ x -ef x ] || echo noef; touch f1; [ f1 -nt nofile ] && echo nt; [ nofile -ot f1 ] && echo ot; [ -s f1 ] || echo nos; [ -v PATH ] && echo v; [ -o errexit ] || echo no; [ 0 -eq "" ]; echo $?; [ 1 -eq " 1 " ] && echo sp

#### i5
# bugs & whitespace
x=1;y=2;echo $x$y;{ echo g;};(echo s);if true;then echo t;fi
echo a;# comment
echo b # c
echo c#d
   echo   spaced   out
	echo tab
echo a\
b
if
true
then
echo multi
fi
for i in a \
b
do echo $i
done
case x
in
x)
echo cx
;;
esac
true &&
echo and
false ||

echo or
echo p |
cat
f()
{
echo f
}
f
f2 ()
(
echo sub
)
f2

#### i6
# errors in the middle
echo start; nosuch; echo $?; ./nosuch; echo $?; /; echo $?; cd /nosuch; echo $?; ls /nosuch 2>/dev/null; echo $?; "" ; echo $?; ''; echo $?; $nope; echo $?; $nope echo x; "a b"; echo $?; $'a\nb'; echo $?; é; echo $?

#### i7
# loops with redirect & pipe
for i in 1 2; do echo $i; done | while read x; do echo "<$x>"; done; while read x; do echo $x; break; done < <(printf 'a\nb\n'); i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i; printf '1\n2\n3\n' | { s=0; while read n; do s=$((s+n)); done; echo $s; }; echo ${s-unset}; shopt -s lastpipe; printf '4\n5\n' | while read n; do t=$((t+n)); done; echo $t; echo x | read y; echo $y; until read z; do break; done < /dev/null; echo done

#### i8
# var-ref
a=b b=c c=d; echo ${!a}; n=a; echo ${!n} ${!n:-x}; arr=(1 2 3); r='arr[@]'; echo "${!r}" ${!arr[@]} ${#arr[@]}; r='arr[1]'; echo ${!r}; r=arr; echo ${!r}; declare -A m=([k]=v); r='m[k]'; echo ${!r}; set -- x y z; i=2; echo ${!i} ${!#}; f() { echo ${!1}; }; f a; u=nope; echo "[${!u}]" ${!u-def}; echo ${!a*} | cat >/dev/null; p=PATH_X; PATH_X=5; echo ${!p}; r='arr[i]'; i=0; echo ${!r}; r='bad-name'; echo ${!r}; echo no

#### i9
# var-op-strip
s='foo bar baz'; echo "${s#foo}" "${s#* }" "${s##* }" "${s%baz}" "${s% *}" "${s%% *}"; p='*'; v='**a**'; echo "${v#$p}" "${v#"$p"}" "${v##\*}" "${v%\*}"; a=(one two three); echo "${a[@]#t}" "${a[@]%e}" "${a[*]#*o}"; v=$'a\nb'; echo "${v#*
}" ; x=abcabc; echo ${x#a*c} ${x##a*c} ${x%b*} ${x%%b*} ${x#[ab]} ${x%[!x]} ${x#?} ${x##*} "${x#}" ${x#z}; q=/a/b/; echo ${q%/} ${q%%/*}x ${q##*/}y

#### i10
# var-op-patsub
s=xx_xx; echo ${s/x/y} ${s//x/y} ${s/#x/y} ${s/%x/y} ${s//xx} ${s/_/&&} ${s/_/\&} "${s/_/[&]}"; t='a/b/c'; echo ${t//\//-} ${t/\/b\//X} "${t//'/'/+}"; echo ${t//[ac]/_} ${t//?/.}; u='a*b'; echo ${u/\*/S} "${u/'*'/S}" ${u//[*]/S}; v=; echo "[${v/x/y}]" "[${v//}]"; w=aaa; echo ${w/a} ${w//a} ${w/#/pre} ${w/%/post}; arr=(ab cb); echo ${arr[@]/b/X} ${arr[*]//b}; r='\n'; echo "${w//a/$r}" "${w/a/$'\n'}"; z='~'; echo ${w/a/~} "${w/a/~}"; set -- ba ca; echo ${@/a/o} "${*/a/o}"

#### i11
# var-op-slice
s=0123456789; echo ${s:3} ${s:3:2} ${s:0:0}x ${s: -3} ${s: -3:2} ${s:(-3):1} ${s:2:-2} ${s:100}y ${s:3:100} ${s:1+1:2*2}; i=2; echo ${s:i} ${s:$i:i}; set -- a b c d; echo ${@:2} ${@:2:1} ${@: -2} ${@:0:2} ${*:3} ${@:4} ${@:5}z; a=(p q r s); echo ${a[@]:1} ${a[@]:1:2} ${a[@]: -1} ${a[@]:9}w; echo "${a[*]:2}" ${a:1}; sp=([1]=x [5]=y [9]=z); echo ${sp[@]:1:2} ${sp[@]:5} ${sp[@]:6:1}; echo ${s:0:-20}; echo no

#### i12
# command-sub in various places
x=$(echo 'a  b'); echo $x "$x"; for i in $(echo 1 2); do echo $i; done; case $(echo c) in c) echo case;; esac; [[ $(echo m) == m ]] && echo m; arr=($(echo p q)); echo ${#arr[@]}; f() { echo "arg:$1"; }; f $(echo one) "$(echo 'two words')"; echo ${x:-$(echo def)} ${nope:-$(echo def)}; echo "$(
echo multi
echo line
)"; y=$(echo a; exit 3); echo $? $y; echo $(echo err >&2) 2>/dev/null; z=$(echo $(echo $(echo deep))); echo $z; echo `echo a``echo b` $(echo c)$(echo d)

#### i13
# type/dparen/paren ambiguity
((1)); echo $?; ( (echo a) ); ((echo b); (echo c)); echo $( (echo d) ); echo $((1)) $(( (1) )); ( ( echo e ) ; echo f ); (( 1 == 1 )) && echo g; $( (echo echo) ) h; x=$(( ( 1 + 2 ) * 3 )); echo $x; [[ (a == a) && ! (b == c) ]] && echo i; f() ((1)); f; echo $?; g() [[ a ]]; g; echo $?

#### i14
# sh-options: vi/emacs noglob verbose etc
set -v; echo v
set +v; echo a; set -n; echo notrun

#### i15
set -a; aa=1; env | while read l; do case $l in aa=*) echo $l;; esac; done; set +a; set -- -x; echo $1; set -o posix; set +o posix; set -k 2>/dev/null; set +k; set -h; set +h; hash; set -h; set -b; echo $-; set -o | while read a b; do case $a in pipefail) echo $b;; esac; done; set -e -u -o pipefail; echo $-; set +euo pipefail; echo $-; set -eu +e; echo $-

#### i16
# tilde more
echo ~root ~/a "~"/b \~ ~+ a=~ a:~ a=b:~ ~:x; HOME=/hh; echo ~ "$HOME"/~; x=~:~/z; echo $x; x="~"; echo $x; for i in ~ ~/q; do echo $i; done; case /hh in ~) echo m;; esac; [[ /hh == ~ ]] && echo m2; unset HOME; echo ~ | cat >/dev/null; y=${z:-~/d}; echo $y; echo ~/"quoted path" ~'/x'; PATH=~/bin:$PATH; echo ${PATH%%:*}

#### i17
# print nul, long
printf 'a\0b' | wc -c; x=$(printf 'a\0b' 2>/dev/null) 2>/dev/null; echo ${#x}; printf '%s\0' a b | while read -d '' z; do echo $z; done; echo $'x\0y' | wc -c; v=$'p\0q'; echo ${#v}; printf '\x00' | wc -c; echo -e 'a\0b' | wc -c; read -r l < <(printf 'm\0n\n'); echo ${#l}

#### i18
# globs in weird contexts
touch a.c b.c; x=*.c; echo $x; echo "$x"; y=(*.c); echo ${#y[@]}; for f in *.c; do echo $f; done; case a.c in *.c) echo m;; esac; echo *.c > out; cat out; [ *.c = a.c ] 2>/dev/null; echo $?; z="*.c"; for f in $z; do echo $f; done; cat <<E
*.c
E
echo [ab].c '*'.c \*.c "*".c; declare d=*.c; echo "$d"; echo $(echo *.c); ls *.c | wc -l; set -- *.c; echo $#; echo ${nope:-*.c} "${nope:-*.c}"; [[ a.c == *.c ]] && echo dbl

#### j1
# process & job control odds
(sleep 0.01; echo a) & (sleep 0.2; echo b) & wait; echo c; f() { sleep 0.01; echo $1; }; f x & wait; f y & wait; { echo g1; echo g2; } & wait $!; x=$( (sleep 0.01; echo late) & echo now; wait ); echo $x

#### j2
exec 3>&1; x=$(echo captured; echo direct >&3); echo "got $x"; exec 3>&-; { echo e >&2; } 2>&1 | cat; f() { echo out; echo err >&2; }; y=$(f 2>&1); echo $y; z=$(f 2>/dev/null); echo $z; w=$( { f; } 2>&1 >/dev/null ); echo $w

#### j3
# local scope in subshell and traps
f() { local x=1; (echo $x; x=2; echo $x); echo $x; }; f; g() { local IFS=,; set -- a b; echo "$*"; }; g; echo "$IFS" | cat -A 2>/dev/null >/dev/null; h() { trap 'echo exit-h' EXIT; (exit 3); echo $?; }; (h); k() { local -; set -f; echo *; }; touch q; k; echo *; rm q

#### j4
# arithmetic for/while edge
for ((;;)); do ((++i>3)) && break; done; echo $i; for ((i=10;i>0;i-=3)) do echo -n "$i "; done; echo; for (( i = 0 , j = 5 ; i < j ; i++ , j-- )); do echo -n "$i$j "; done; echo; n=5; while ((n--)); do ((n%2)) && continue; echo -n "$n "; done; echo; until ((n>=2)); do ((n++)); done; echo $n

#### j5
# string comparisons & sorting in [[ and [
[[ abc < abd ]] && echo lt; [[ B < a ]] && echo ascii; [ abc \> abb ] && echo gt; [[ 10 < 9 ]] && echo strcmp; [[ 10 -gt 9 ]] && echo num; [[ "" < a ]] && echo empty; [[ a == A ]] || echo case; shopt -s nocasematch; [[ a == A ]] && echo nocase; shopt -u nocasematch; [[ -z "" && -n x ]] && echo zn; [[ 1 -eq 1.0 ]]; echo $?

#### j6
# nested data & quoting through eval/printf %q
v="it's \"q\" \$x \`c\` \\ *"; q=$(printf %q "$v"); eval "w=$q"; [ "$v" = "$w" ] && echo same; printf '%q\n' "$v" '' 'a b' $'a\tb' '~x' 'a~' '#c' 'c#' '{a,b}' 'a=b' '!x' '^' 'é'; a=(1 "two words" $'three\nlines'); declare -p a > d; unset a; . ./d; echo "${#a[@]} ${a[2]}"; echo "${v@Q}"; eval "z=${v@Q}"; [ "$z" = "$v" ] && echo sameQ

#### j7
# functions with special names and unset
f.x() { echo dot; }; f.x; f-x() { echo dash; }; f-x; function f:x { echo colon; }; f:x; +() { echo plus; }; +; _() { echo under; }; _; unset -f f.x; f.x; echo $?; [() { echo br; }; unset -f [; test() { echo mytest; }; test; unset -f test; test a && echo t; cd() { builtin cd "$@" && echo moved; }; cd /; unset -f cd

#### j8
# here-doc in loops/functions/pipes, nested substitution
for i in 1 2; do cat <<E; done
item $i $(cat <<I
inner $i
I
)
E
f() { cat <<-E
	indented $1
		two tabs
	E
}
f arg; cat <<E | while read x; do echo "<$x>"; done
p
q
E
x=$(cat <<'E'
$raw `raw`
E
); echo "$x"; cat <<E1 - <<E2
first
E1
second
E2
cat 3<<E <&3
fd3
E

#### j9
# exit codes
true; echo $?; false; echo $?; (exit 42); echo $?; f() { return 7; }; f; echo $?; ! f; echo $?; f || echo "or $?"; f && echo no; echo $?; $(exit 9); echo $?; x=$(exit 8); echo $?; [ 1 = 2 ]; echo $?; [[ a ]]; echo $?; ((0)); echo $?; nosuch 2>/dev/null; echo $?; / 2>/dev/null; echo $?; if f; then :; fi; echo $?; while f; do :; done; echo $?; case x in esac; echo $?; for i in; do :; done; echo $?; { f; }; echo $?; eval 'exit_code() { return 11; }; exit_code'; echo $?; kill -0 $$; echo $?

#### j10
# IFS pathological
IFS=' '; x=' a  b '; set -- $x; echo $#; IFS=':'; x=':a::b:'; set -- $x; echo $#; printf '<%s>' "$@"; echo; IFS=$' :'; x=' a : b:: c'; set -- $x; echo $#; printf '<%s>' "$@"; echo; IFS=''; x='a b'; set -- $x; echo $#; unset IFS; set -- $x; echo $#; IFS=ab; x=xaybz; set -- $x; echo $*; echo "$*"; IFS=; echo $* "$*"; IFS=$'\n'; x=$'l1\nl2\n\nl3'; set -- $x; echo $#; for l in $x; do echo "[$l]"; done

#### j11
# trap in functions, subshell, pipeline; signals
trap 'echo usr1' USR1; kill -USR1 $$; f() { kill -USR1 $$; echo after; }; f; (trap 'echo sub' USR1; kill -USR1 $BASHPID); trap - USR1; trap 'echo int; exit 9' INT; (kill -INT $BASHPID; echo notkilled); echo $?; trap '' TERM; kill -TERM $$; echo alive; trap 'echo hup' HUP; kill -1 $$; trap -l | head -1 >/dev/null; trap 'x=1' USR2; kill -USR2 $$; echo $x

#### j12
# scoping of set -e in functions called in conditions; subshell exit statuses
set -e; f() { false; echo "still"; }; if f; then echo yes; fi; f && echo and; f || echo or; x=$(f); echo "x=$x"; (f) || echo sub; { f; } || echo grp; ! f; echo not; while f; do break; done; until f; do break; done; f; echo unreachable

#### j13
# dynamic vars in arithmetic/param contexts
RANDOM=42; a=$RANDOM b=$RANDOM; RANDOM=42; [ $a = $RANDOM ] && [ $b = $RANDOM ] && echo repeat; SECONDS=5; ((SECONDS>=5)) && echo secs; echo $((LINENO)) ${LINENO}; unset LINENO; echo [$LINENO]; BASH_ARGV0=newname; echo $0; FUNCNAME=x; echo ${FUNCNAME-none}; f() { echo ${FUNCNAME[@]} ${#FUNCNAME[@]}; g; }; g() { echo ${FUNCNAME[1]}; }; f; HOSTNAME=h; echo $HOSTNAME; OSTYPE=o; echo $OSTYPE; echo ${BASH##*/}

#### j14
# read with multiple fds and loops nested
printf '1\n2\n' > a; printf 'x\ny\n' > b; while read -u 3 p && read -u 4 q; do echo $p$q; done 3<a 4<b; while read l; do while read m; do echo $l$m; done < b; done < a; exec 5<a; read -u 5 z; cat <&5; exec 5<&-; { read r; cat; } < a; while read -r x; do :; done < a; echo "[$x]"; mapfile -t arr < a; echo ${arr[@]}

#### j15
# printf reuse, widths, invalid
printf '%s-%s\n' a b c; printf '%d %s\n' 1 a 2 b; printf '\n'; printf '%5s|%-5s|%05d|%x|%o|%e\n' ab cd 42 255 8 12345.678; printf '%s\n'; printf '%d\n'; printf 'no newline'; echo; printf '%s %s %s\n' "a b" c; printf -- '%s\n' --x; printf '%b' 'a\nb\n'; printf '%c%c%c\n' abc def g; printf '%%|%5%|\n'; printf '%3$s' a b c 2>/dev/null; echo; printf "%s\n" {a..c}; printf '%08.3f|%+d|% d\n' 3.14159 5 6; printf '%.3s|%.10s|\n' abcdef abc; printf '%*s|%-*s|\n' 5 a 5 b

#### j16
# command -v / type / hash with functions, alias, keywords, files
printf '#!/bin/sh\necho script\n' > sc; chmod +x sc; PATH=$PWD:$PATH; command -v sc | while read p; do echo ${p##*/}; done; type sc | while read a b c; do echo $a $b ${c##*/}; done; sc; hash | while read a b; do echo ${b##*/}; done; type -t sc; command -v if while cd; type -t if cd; type cd; type if; rm sc; sc 2>/dev/null; echo $?; hash -r; sc 2>/dev/null; echo $?
