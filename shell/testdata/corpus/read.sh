#### rd1
echo "a b  c" | { read x y; echo "[$x][$y]"; }

#### rd2
printf 'a\\nb c\\\nd\n' | { read x; echo "[$x]"; }; printf 'a\\nb\n' | { read -r x; echo "[$x]"; }

#### rd3
printf '  lead trail  \n' | { read x; echo "[$x]"; }; printf '  lead trail  \n' | { IFS= read x; echo "[$x]"; }; printf '  lead trail  \n' | { read; echo "[$REPLY]"; }

#### rd4
printf 'a:b:c:' | { IFS=: read x y z w; echo "[$x][$y][$z][$w] $?"; }; printf 'a:b:c:d:e\n' | { IFS=: read x y; echo "[$x][$y]"; }

#### rd5
printf 'a b c\n' | { read -a arr; echo "${#arr[@]} ${arr[1]}"; }; printf 'x,y;z' | { read -d ';' v; echo "$v $?"; read -d ';' w; echo "$w $?"; }

#### rd6
printf 'abcdef' | { read -n 3 x; echo "$x"; read -N 2 y; echo "$y"; read -n 10 z; echo "$z $?"; }

#### rd7
printf 'a\nb\n' | { read -N 3 x; echo "[$x]"; }; printf 'ab\ncd' | { read -n 5 x; echo "[$x]"; read -n 5 y; echo "[$y] $?"; }

#### rd8
read x < /dev/null; echo "$? [$x]"; echo -n nolf | { read x; echo "$? [$x]"; }

#### rd9
printf 'a\0b\0' | { while IFS= read -r -d '' x; do echo "<$x>"; done; }

#### rd10
echo "1 2 3" | { read a b c d; echo "$a|$b|$c|$d"; }; read a b <<< "x"; echo "$a|$b|"; read -r a <<< 'c:\d'; echo "$a"

#### rd11
IFS=, read -r -a f <<< "a,b,,d,"; echo ${#f[@]}; printf '<%s>' "${f[@]}"

#### rd12
read 1x <<< a; echo $?; read -t abc x; echo $?; read -n -1 x; echo $?; read -u 77 x; echo $?

#### rd13
read -p "prompt " x <<< v; echo $x; read -t 0 <<< x; echo $?; read -s x <<< q; echo $x; read a[2] <<< el; echo ${a[2]}

#### rd14
while IFS='=' read -r k v; do echo "$k -> $v"; done <<E
a=1
b=2=3
c
E

#### rd15
printf 'a\\ b c\n' | { read x y; echo "[$x][$y]"; }; printf 'a\\:b:c\n' | { IFS=: read x y; echo "[$x][$y]"; }

#### rd16
printf 'x\n' | { read -n 0 v; echo "$? [$v]"; read v; echo "$v"; }; IFS=' :' read a b c <<< " x : y :z "; echo "[$a][$b][$c]"

#### rd17
printf 'a b\tc\n' | { IFS=$'\t' read x y; echo "[$x][$y]"; }; printf '\tx\t\ty\n' | { IFS=$'\t' read a b c; echo "[$a][$b][$c]"; }

#### mf1
printf 'a\nb\nc\n' > f; mapfile -t m < f; echo ${#m[@]} "${m[@]}"; mapfile -t -n 2 m < f; echo "${m[@]}"; mapfile -t -s 1 m < f; echo "${m[@]}"; mapfile -O 2 -t m < f; declare -p m

#### mf2
printf 'a:b:c' > f; mapfile -d : m < f; declare -p m; readarray -t -d : m < f; declare -p m; mapfile < f; declare -p MAPFILE

#### mf3
cb() { echo "cb $1 $2"; }; printf 'a\nb\nc\n' > f; mapfile -t -C cb -c 2 m < f; echo ${#m[@]}

#### mf4
mapfile -t m < <(printf '1\n2\n'); echo "${m[@]}"; declare -A as; mapfile as <<< x; echo $?; echo x | mapfile z; echo ${#z[@]}
