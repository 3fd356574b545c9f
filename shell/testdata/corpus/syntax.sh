#### sy1
echo "abc

#### sy2
echo a
echo $(abc

#### sy3
if true; echo; fi

#### sy4
for x-y in a; do :; done
echo after

#### sy5
[[ a b ]]; echo x

#### sy6
cat <<E
foo

#### sy7
x=$(cat <<E
foo
E)
echo $x

#### sy8
a=(1 ; 2)
echo z

#### sy9
eval "echo )"; echo $?

#### sy10
func$x() { :; }; echo after

#### sy11
1f() { echo hi; }; 1f

#### sy12
echo `echo )`; echo after

#### sy13
x=(1) true; echo "${x[0]}"

#### sy14
for ((i=0; i<3)); do :; done

#### sy15
echo a; echo $(if
echo b)

#### sy16


eval "echo a
fi"; echo $?

#### sy17
declare x={a,b}; echo $x; y={a,b}; echo $y

#### sy16b


eval "echo a
fi"; echo $?
