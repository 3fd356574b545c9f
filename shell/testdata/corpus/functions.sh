#### p1
f() { echo hi; if true; then echo a; elif x; then c; else echo b; fi; for i in a "b c"; do echo $i; done; for ((i=0;i<3;i++)); do echo; done; while read x; do :; done < f; until false; do break; done; case $x in a|b) echo 1;; *) echo 2;& c) ;;& esac; { echo g; echo h; }; ( echo s; echo t ); [[ a == b* && -f x || ! ( c < d ) ]]; (( x > 1 )); a && b || c; a | b |& c; ! d; sleep 1 & echo z; x=1 y=(1 2 "3 4") z[1]=q; x=1 cmd "$a" 'b' $'c\n' `bq` $(cs  1) $((1+2)) ${x:-y} > out 2>&1 < in >> app; time foo; time -p foo; select s in 1 2; do break; done; function g { inner; }; coproc cat; cat <<EOF
body $x
EOF
cat <<'E' | wc
lit
E
}
declare -f f

#### p2
g() ( echo sub )
declare -f g
h() { a; } > out 2>&1
declare -f h
i() if x; then y; fi
declare -f i
j() { a; b & }
declare -f j
k() { for x; do echo; done; for x in; do :; done; a;
b
c & d; }
type k
l() { { a; }; }; declare -f l
m() { ( a; b ) & { c; d; } | e; if a; b; then c; d; fi; while a; b; do c; done; }; declare -f m
n() { echo <(a) >(b) $x"y"z; cat <<< "x y"; exec 3<&- 4>&5- {fd}>f &>g &>>h >|i 3<>j; }; declare -f n
o () { local a=1 -r b; export c=2; declare -a arr=(1 2); readonly x; }; declare -f o
p() { case x in esac; case x in (a) ;; esac; }; declare -f p
q() { ! a | b; ! { c; }; [[ -z $x ]]; [[ $x ]]; [[ $a =~ ^(x|y)$ ]]; [[ a -eq 1 ]]; }; declare -f q
r() { if ((x)); then :; fi; until [[ a ]]; do ((i++)); done; }; declare -f r
s() { a && { b; c; }; a || ( d ); }; declare -f s
t() { echo "multi
line"; }; declare -f t

#### fn1
f() { echo "$# $@ $0 ${FUNCNAME[0]}"; return 3; }; f a "b c"; echo $?; function g { echo g$1; }; g 1; h() ( x=5; echo $x ); x=1; h; echo $x; f2 () { f2b() { echo nested; }; }; f2; f2b

#### fn2
fact() { if (( $1 <= 1 )); then echo 1; else echo $(( $1 * $(fact $(($1-1))) )); fi; }; fact 10; r() { [ $1 -gt 0 ] && { echo $1; r $(($1-1)); }; }; r 3

#### fn3
f() { local x=1 y; y=2; z=3; echo $x$y$z; }; x=a y=b; f; echo $x$y$z; g() { x=global; }; g; echo $x; h() { local x=h; i; echo $x; }; i() { x=i; }; h; echo $x

#### fn4
unset -f f; f() { :; }; type f; declare -F f; declare -F; unset f; declare -F f; echo $?; f=1; f() { echo func; }; unset f; f; echo [$f]; unset f; f

#### fn5
f() { return; }; false; f; echo $?; f() { (return 5); echo $?; }; f; f() { return 256; }; f; echo $?; f() { return -1; }; f; echo $?; f() { return abc; }; f; echo $?

#### fn6
f() { echo $1; shift; [ $# -gt 0 ] && f "$@"; }; f a b c; f() { set -- x y; echo $#; }; set -- 1; f; echo $#; f() { local IFS=:; echo "$*"; }; f 1 2

#### fn7
f() { for i; do [ $i = 2 ] && return 7; echo $i; done; }; f 1 2 3; echo $?; f() { while :; do break; done; echo out; }; f; f() { cat; } <<E
redir $x
E
f

#### fn8
f() { local v=$(exit 3); echo $?; local w; w=$(exit 4); echo $?; }; f; f() { export X=1; }; f; env | while read l; do case $l in X=*) echo $l;; esac; done; f() { readonly R=1; R=2; echo no; }; f; echo x
