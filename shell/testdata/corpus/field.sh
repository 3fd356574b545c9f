#### H02
while read a; do cat /nope; done <<EOF
1
2
EOF

#### H05
printf 'a\nb\n' | while read x; do echo "$x" | cat; done

#### H06
x=$(cat <<'E'
it's
E
)
echo "$x"; echo $((1<<2)); echo $((
1<<3))

#### H08
printf '\377\000x\200' > b; cat b | cat > c; cat c; wc -c < c

#### H10
cat <<E
{"a":1,"b":2} {a,b}
E

#### H11
{ echo o; echo e >&2; } 2>&1 >f; echo 1 >a >b; echo x >nodir/f; echo $?; exec 3<f; read -u3 v; echo $v

#### H12
cat <<E\
OF
body
EOF
echo z
cat <<X
last

#### H14
touch t_1.x t_2.x; p=t_; cat <(ls ./"$p"*.x); echo ./"$p"*.x; echo $(echo ./"$p"*.x); (echo ./"$p"*.x); echo ./"$p"*.x | cat
