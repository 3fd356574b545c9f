#### ar1
echo $((1 2))

#### ar2
echo $((x=1,x+=2,x<<=3)); x=3; echo $((x ++ + ++ x)); a=(1 2); echo $((a[1]+a)); echo $((1<<64)) $((1<<-1))

#### ar3
set -u; echo $((zz+1)); echo k

#### ar4
x=y; y=x; echo $((x))

#### ar6
((1+)); echo after

#### ar7
declare -A m; m[a b]=5; m["c d"]=6; k="a b"; echo $((m[a b]+m[$k])) ; ((m[x]++)); ((m['y z']=3)); declare -p m

#### ar8
i=5; a=(0 1 2 3 4 5); echo $((a[i]+a[i-1])) ${a[i-2]} ${a[$i]} ${a[-1]} ${a[$((i-4))]}; ((a[i]=9, i++)); echo ${a[5]} $i
