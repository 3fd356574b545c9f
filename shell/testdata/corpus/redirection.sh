#### redir1
{ echo o; echo e >&2; } 2>&1 >f; echo --; cat f

#### redir2
echo x >a >b; ls; cat b; echo y >>b; cat b

#### redir3
echo x >nodir/f; echo $?

#### redir4
echo hello > f; exec 3<f; read -u3 x; echo $x; exec 3<&-; read -u3 y; echo $?

#### redir5
exec 3>&1; echo hi >&3; exec 3>&-; echo no >&3; echo $?

#### redir6
exec {fd}>f; echo $((fd>=10)); echo a >&$fd; exec {fd}>&-; cat f; echo z >&$fd; echo $?

#### redir7
echo a &>f; echo b &>>f; cat f; ls nofile 2>/dev/null; echo $?; ls nofile &>g; cat g

#### redir8
set -C; echo a >f; echo b >f; echo $?; echo c >|f; cat f; set +C; echo d >f; cat f

#### redir9
cat <f; echo $?; cat < /dev/null; echo $?

#### redir10
x="a b"; echo hi > $x; echo $?; echo hi > "$x"; cat "a b"; echo hi > $nope; echo $?

#### redir11
f() { echo out; echo err >&2; }; f >o 2>e; cat o; cat e; f 2>&1 | cat

#### redir12
while read l; do echo "[$l]"; done <<E
a
b c
E

#### redir13
for i in 1 2; do echo $i; done > f; cat f; if true; then echo y; fi > g; cat g; (echo s) > h; cat h

#### redir14
echo a 1>&2 2>/dev/null; echo b 2>&1 1>/dev/null; echo c >&-; echo $?

#### redir15
exec 5<>f; echo abc >&5; cat f; exec 5<f; read -n1 -u5 x; echo $x; cat <&5

#### redir16
echo "x" | { read a; echo "got $a"; } ; echo a b c | read x; echo "[$x]"

#### redir17
cat <<< "here $((1+1)) string"; cat <<< 'q"u'; x=5; cat <<<$x

#### redir18
cat <<-E
	tab
	  two $x
	E
cat <<'E'
$x `y` \z
E
cat <<"E"
$y
E
cat <<\E
lit $z
E

#### redir19
x=5; cat <<E
$x ${x}y $(echo sub) `echo bq` $((x+1)) \$x \\ \` "q" 'q'
E

#### redir20
cat <<A; cat <<B
a
A
b
B

#### redir21
cat <<E | tr a-z A-Z || cat
abc
E

#### redir22
f() { cat; }; f <<E
in func
E

#### redir23
exec 3<<E
line1
line2
E
read -u 3 a; read -u 3 b; echo $a $b

#### redir24
echo hi 3>&1 >&3 3>&-

#### redir25
echo {a,b} > out{1,2}; echo $?

#### redir26
ls /nope 2>&1 >/dev/null | cat

#### redir27
2>err ls /nope; cat err; >f; ls; <f

#### redir28
exec 2>e; nosuch; exec 2>&1; cat e

#### redir30
echo a > f; cat < f > g; cat g; cat f - < g

#### redir31
{ echo a; { echo b >&2; } 2>&1; } > f; cat f

#### redir32
echo a 9>&1 >&9; echo b >&7; echo $?

#### redir33
exec 3>f; echo 1 >&3; (echo 2 >&3); echo 3 >&3; cat f; exec 4>&3 3>&-; echo 4 >&4; cat f

#### redir34
exec 3<<< abc; exec 4<&3-; cat <&4; cat <&3; echo $?
