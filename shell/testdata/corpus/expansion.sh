#### e1
set --; e=; printf "<%s>" "$e$@"; printf "<%s>" "$@$e"; printf "<%s>" "$@$@" z; printf "<%s>" ""$@; printf "<%s>" "$@""" ; printf "<%s>" a"$@"

#### e2
printf "<%s>" "${a[@]}" "${a[@]}$e" "x${a[@]}" "${a[@]:-}" "${a[@]-}"

#### e3
set -- a "b c" d; IFS=,; x=$@; echo "$x"; x=$*; echo "$x"; x="$@"; echo "$x"; IFS=; x=$*; echo "$x"; x=$@; echo "$x"; printf "<%s>" $*; printf "<%s>" $@ "$*"; unset IFS; x=$*; echo "$x"

#### e4
echo ${!x}; echo $?

#### e5
x=y; echo "[${!x}]"; y=5; echo ${!x}; x="a[1]"; a=(1 2); echo ${!x}; x=@; set -- p q; printf "<%s>" "${!x}"; x=1; echo ${!x}; x="a b"; echo ${!x}; echo z

#### e6
declare -n r=foo; echo ${!r}; x="a[@]"; a=(1 2 3); printf "<%s>" "${!x}" "${!x:1}"

#### e7
x=abcdef; echo ${x:1:-1} ${x: -3:2} ${x:10} "${x:2:0}" ${x::2}; echo ${x:1:-9}; echo z

#### e8
a=(1 2 3); echo ${a[@]:1:-1}; echo z

#### e9
set -- a b c; echo ${@:0} ${@:1:2} ${@: -1} ${@:5}

#### e10
x="a b"; y=${x:-"$x"}; printf "<%s>" ${x:+$x "$x" c\ d} "${x:+'a'}" ${z:-'a b'} "${z:-a\"b}"

#### e11
x=~; echo $x; y=a:~:~/b; echo $y; echo a=~ ~:b "~" ~nouser ~root; z=${u:-~}; echo $z "${u:-~}"; case ~ in $HOME) echo y;; esac

#### e12
x="a*b"; echo "${x//\*/X}" ${x//[*]/Y}; p="*"; echo ${x//$p/Z} ${x//"$p"/W}

#### e13
x=abc; echo ${x/b/[&]} ${x/b/\&} ${x/b/"&"}; r="<&>"; echo ${x/b/$r} "${x/b/"$r"}"

#### e14
x=a; echo "${x/a/'b'}" ${x/a/'b'} "${x/'a'/c}"

#### e15
x=hello; echo ${x^} ${x^^} ${x^^[el]} ${x~} ${x~~}; y=HELLO; echo ${y,} ${y,,} ${y,,[L]}

#### e16
cat <<E
${x:-'a'} ${x:-"b"} "${x:-c}" \$x \a \\ ${x:-$'q'} $'r'
E

#### e17
echo "${x:-$'a\tb'}" "${x:-\'a}" "${x:-\z\}}" ${x:-\z}

#### e18
x=(a "b c" d); echo "${x[@]@Q}" ${x@Q} "${x[*]@Q}"; echo "${x[@]@A}"; echo "${x[@]@K}"; printf "<%s>" "${x[@]@k}"; y="a'b"; echo ${y@Q} ${y@A}; declare -i n=3; echo ${n@A} ${n@a}; echo ${u@Q} ${u@A}; echo "${x@a}"; declare -A m=([k]="v w"); echo "${m[@]@A}" "${m[@]@K}"; z=$'a\nb'; echo "${z@Q}" ${z@E}; set -- p "q r"; echo "${@@Q}" "${@@A}"

#### e19
a=(1 2 3); echo ${#a} ${#a[@]} ${#a[0]} ${#} ${#@}; x=héllo; echo ${#x}; LC_ALL=C.UTF-8; echo ${#x} ${x:1:1} ${x^^}

#### e20
IFS=: read -r a b <<< "x:y z"; echo "$a|$b"; IFS=" :"; x="a : b::c"; printf "<%s>" $x; IFS=:; x=":a::b:"; printf "<%s>" $x; printf "<%s>" x$x"y"; x="  a  "; unset IFS; printf "<%s>" $x; printf "<%s>" 1$x"2"

#### e21
set -- "" a ""; printf "<%s>" $@; printf "<%s>" "$@"; IFS=:; printf "<%s>" $*; printf "<%s>" "$*"

#### e22
set -u; a=(); echo "${a[@]}" "$@" "$*" ok; echo ${a[0]}

#### e23
set -u; echo ${#zz}

#### e24
set -u; echo ${zz-} ${zz:-d} $# ${a[@]}; echo $1

#### e25
unset a; echo ${a[@]+x} ${a+y}; a=(); echo ${a[@]+x} ${a+y} ${#a[@]}; a=(""); echo ${a[@]+x} "${a[@]:-d}"

#### e26
echo ${x:?a b} 

#### e27
f() { echo ${1?need arg}; }; f

#### e28
y=a; x=${y?}; echo ${#y?}

#### e29
x=5; echo ${x:a}; echo ${x:0:1+1} ${x:(0)}

#### e30
readonly -a Q=(1); echo ${Q@a} ${BASH_VERSINFO@a}

#### e31
echo ${!B*}

#### e32
a1=1 a2=2; echo ${!a*}; printf "<%s>" "${!a@}" "${!a*}"

#### dq at
n() { echo -n "$# "; }; unset e; f=; set --; n "$@$e"; n "$e$@"; n "$f$@"; n "$@$f"; n "$@$@"; n ""$@; n "$@"""; n "${e}${f}$@"; n a"$@"; n "$@"$f; n $f"$@"; n "$@"""; n """$@"; n "${a[@]}$f"; n "${a[@]:-}"; n "${a[@]-}"; n "$*$@"; n "$@$*"; n "$*"; n ""; n "$f"; n "$e"; n $f""; n ""$f; n "${@:-$e}" ; n "${e:-$@}"; n "${e:+x}"; n "${e+$@}"; n "$@"  "$(:)$@"; n "$(:)"; n $@""; n ""$*

#### ifs at
set -- "" a ""; IFS=:; printf "<%s>" $@; echo; printf "<%s>" x$@y; echo; printf "<%s>" x$*y; IFS=" :"; echo; printf "<%s>" $*; IFS=": "; echo; printf "<%s>" $*; a=("" b ""); echo; printf "<%s>" ${a[@]}; echo; printf "<%s>" ${a[*]}

#### ifs at2
set -- "a:b" c; IFS=:; printf "<%s>" $@; echo; printf "<%s>" $*; echo;  IFS=; printf "<%s>" $@ $*; echo; printf "<%s>" x$*y

#### ifs3
IFS=:; set -- a "" b; printf "<%s>" $@; echo; printf "<%s>" $*; x=a::b; echo; printf "<%s>" $x; echo; printf "<%s>" $x$x

#### ifs4
IFS=x; v=axbxc; for i in $v; do echo -n "[$i]"; done; set -- $v; echo $#; IFS=" x"; v="  axx b "; set -- $v; echo $#; printf "<%s>" "$@"

#### ifs5
a=("" ""); printf "<%s>" "${a[@]:-d}"; echo; a=("x" ""); printf "<%s>" "${a[@]:-d}"; set -- "" ""; echo; printf "<%s>" "${@:-d}" "${*:-e}"; set -- ""; echo; printf "<%s>" "${@:-d}" "${*:-e}" ${@:+z}

#### pe1
f=/a/b/c.tar.gz; echo ${f##*/} ${f%/*} ${f%%.*} ${f#*.} ${f##*.} ${f/b/X} ${f//\//_} ${f/#\/a/Z} ${f/%gz/xz} ${#f}

#### pe2
x=; echo "${x:-d}" "${x-d}" "${x:+a}" "${x+a}" "${y:-d}" "${y-d}" "${y:+a}" "${y+a}"; echo ${y:=new} $y; echo ${z=w} $z

#### pe3
x="hello world"; echo ${x:0:5} ${x:6} ${x: -5} ${x:(-5):2} ${x^} ${x^^} ${x^^o} ${x/o/0} ${x//o/0} ${x/%d/D} ${x/#h/H}; y=5; echo ${x:y} ${x:y+1:2} ${x:$((y-1)):1}

#### pe4
v=abcabc; echo ${v#*b} ${v##*b} ${v%b*} ${v%%b*} ${v/b*/X} ${v/*b/X} ${v//[ab]/-} ${v//?/x} ${v/z/y} ${v//} ${v/a} ${v//a}

#### pe5
x='a b  c'; echo $x; echo "$x"; set -- $x; echo $#; y=$x; echo "$y"; z="'a b'"; printf '<%s>' $z; echo; e=''; printf '<%s>' $e "$e" a$e"b"; echo; printf '<%s>' ${x}y "${x}"y

#### pe6
a='$(echo hi)'; echo $a "$a"; b='`ls`'; echo "$b"; c='${a}'; echo $c; echo "\$a \\ \" \` \n"; echo '\n' "a'b" 'a"b' a\ b a\\b "a\b"

#### pe7
echo $'a\tb\n\\ \x41\101\u0041 \e[0m'; echo $'it\'s' $"loc"; echo "$'x'" '$x'; echo $'\cA'; echo $'a\0b'c

#### pe8
echo ~ ~/x "~" '~' a~ ~root ~+ ; HOME=/h; echo ~ ~/y; x=~/z:~; echo $x; echo --foo=~/bar foo=~/b; cd /; OLDPWD=/o; echo ~-

#### pe9
set -- a b c d e f g h i j k; echo $1 ${10} $10 ${11} $# "$*" "$@" ${@:2:3} ${*: -2} ${#@} ${!#}; shift 3; echo $1; set --; echo $# [$1]; set -- -a; echo $1; set - x; echo $1

#### pe10
x=1; echo $((x+1)) $((x++)) $x $((++x)) $((x+=5)) $((x==8?1:0)) $((2**10)) $((7/2)) $((-7/2)) $((7%3)) $((-7%3)) $((1<<4|1)) $((0x10)) $((010)) $((2#101)) $((36#z)) $(( (1+2)*3 )) $((!x)) $((~x)) $((5>3&&2<1)) $((5,6))

#### pe11
echo ${x-a b} "${x-a b}" ${x-"a b"} ${x-'a b'} "${x-'a b'}" "${x-\"q\"}" ${x:-$(echo s)} ${x:-`echo b`} ${x:-${y:-deep}} ${x:+no}${z:-yes}
