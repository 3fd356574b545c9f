#### r1
readonly x=1; x=2; echo hi
echo next

#### r2
readonly x=1; x=2 echo hi; echo $?

#### r3
readonly x=1; x=2 true; echo $?; f() { x=3; echo in; }; f; echo out

#### r4
readonly x; declare x=4; echo $?

#### r5
readonly x; export x=4; echo $?; read x <<< a; echo $?; unset x; echo $?; printf -v x a; echo $?; for x in a; do echo l; done; echo $?

#### r6
readonly x; (( x = 1 )); echo $?; : $((x=1)); echo b

#### r7
readonly x; : ${x:=5}; echo b

#### r8
f() { echo ${a b}; echo after; }; f; echo z

#### r9
f() { echo ${a b}; echo after; }
f; echo z
echo y $?

#### r10
eval 'echo ${a b}; echo in'; echo out

#### r11
eval "echo \${a b}
echo in"; echo out

#### r12
( echo ${a b}; echo in ); echo out $?

#### r13
x=$(echo ${a b}; echo in); echo out $?

#### r14
echo a | echo ${a b} | cat; echo out $?

#### r15
set -u; echo $zz; echo in

#### r16
set -u; (echo $zz; echo in); echo out $?

#### r17
${x?bad}; echo in

#### r18
echo ${x:?}; echo in

#### r19
f() { local x=1; unset x; echo "[${x-unset}]"; x=5; }; x=0; f; echo $x

#### r20
f() { local x=1; g; echo f$x; }; g() { unset x; echo "g$x"; x=9; }; x=0; f; echo $x

#### r21
f() { echo $x; local x; echo "[$x]"; }; x=1 f; x=2; f

#### r22
f() { x=5; }; x=1 f; echo "[$x]"

#### r23
f() { echo $x; unset x; echo "[$x]"; }; x=0; x=1 f; echo $x

#### r24
exec >/nodir/x; echo after; echo $?

#### r25
cd /nodir || echo $?; : >/nodir/x; echo $?; { echo; } >/nodir/x; echo $?

#### r26
declare -i x=1+2; x+=3; echo $x; x=abc; echo $x; x=1+; echo $?

#### v1
a[-5]=1; echo $?

#### v2
a=(1 2); a[-3]=1; echo z

#### v3
a=(1 2); echo "${a[-3]}"; echo $?

#### v4
declare -n r=r; echo $?

#### v5
declare -n r=x; r=5; echo $x; declare -n a=b; declare -n b=a; a=1; echo $?; echo $a

#### v6
declare -n r; r=y; r=3; echo $y

#### v7
declare -n r=1x; echo $?

#### v8
declare -A m; m[]=1; echo $?

#### v9
m=(1 2); m[]=1; echo $?

#### v10
a[1]=(2); echo $?

#### v11
declare -A m; m=(a b c); declare -p m

#### v12
declare -A m=([a]=1 b); echo $?; declare -p m

#### v13
declare -a a; declare -A a; echo $?

#### v14
declare -A m; declare -a m; echo $?

#### v15
x=5; x[1]=6; declare -p x; declare -A y; y=7; declare -p y

#### v16
a=(1 2 3); a=9; declare -p a; unset a[1]; declare -p a; a+=(x); declare -p a; a+=y; declare -p a

#### v17
declare -i n; n="a b"; echo $?; echo z

#### v18
declare -u u=abc; u+=def; echo $u; declare -l u; u=XYZ; echo $u; declare -c c=hELLO; echo $c

#### v20
unset RANDOM; RANDOM=x; echo $RANDOM

#### v21
UID=5; echo $?

#### v22
PIPESTATUS=3; echo $PIPESTATUS

#### v23
FUNCNAME=x; f() { FUNCNAME=y; echo $FUNCNAME; }; f

#### v24
GROUPS=3; echo $GROUPS; unset GROUPS

#### v25
unset x y; unset -v; unset 1x; echo $?; unset -f nope; echo $?; unset -n r

#### v26
export 1x=3; echo $?; declare 1x; readonly "a b"; local x; echo $?

#### v27
f() { local 1a=2; echo $?; local -r z=1; local z=2; echo $?; }; f

#### v28
declare -r q=1; declare +r q; echo $?; q=2

#### nr1
declare -n r=x; x=1; echo $r; r=2; echo $x; unset r; echo ${x-gone}; declare -n q=arr[1]; arr=(a b c); echo $q; q=Z; echo "${arr[@]}"; unset -n q; echo ${q-none}

#### nr2
f() { declare -n out=$1; out=val; }; f res; echo $res; g() { local -n a=$1 b=$2; local t=$a; a=$b; b=$t; }; p=1 q=2; g p q; echo $p $q; declare -n r; echo $?; r=zz; declare -p r; [[ -R r ]] && echo ref; for r in p q; do echo $r; done
