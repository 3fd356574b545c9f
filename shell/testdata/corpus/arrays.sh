#### arr1
a=(a b c); echo ${a[1]} ${#a[@]} ${a[@]:1} ${!a[@]}; a+=(d e); echo "${a[*]}"; a[10]=z; echo ${!a[@]} ${#a[@]}; unset a[0]; echo "${a[@]}"; unset a; echo "[${a[@]}]"

#### arr2
a=([2]=x [5]=y z [1]=w); declare -p a; a=("${a[@]}" new); declare -p a; b=("${a[@]/x/X}"); declare -p b; c=("${a[@]#n}"); declare -p c

#### arr3
a=(1 2 3 4 5); echo ${a[@]:1:2} ${a[@]: -2} ${a[@]:0:1} "${a[*]:2}"; IFS=,; echo "${a[*]}" ${a[*]}; unset IFS; for i in "${!a[@]}"; do echo -n "$i:${a[i]} "; done

#### arr4
declare -A m=([one]=1 [two]=2 ["three x"]=3); m[four]=4; echo ${#m[@]} ${m[one]} "${m[three x]}"; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done; unset 'm[one]'; echo ${m[one]-unset}; declare -p m

#### arr5
declare -A m; m[/a/b]=1; m[x.y]=2; m["a b"]=3; m[$((1+1))]=4; k='q r'; m[$k]=5; m['s"t']=6; m[-]=7; m[@x]=8; declare -p m; echo ${m[/a/b]} ${m[x.y]} "${m[$k]}" ${m[-]}

#### arr6
declare -a x; declare -p x; x[3]=1; declare -p x; declare -A y; declare -p y; y=(); declare -p y; z=(); declare -p z; declare -p nope; echo $?

#### arr7
f() { local -a l=(1 2); local -A m=([a]=b); l+=(3); echo "${l[@]} ${m[a]}"; }; f; echo "[${l[@]}]"; g() { local -n ref=$1; ref+=(x); echo ${#ref[@]}; }; arr=(1); g arr; echo "${arr[@]}"

#### arr8
a=(x); a[0]+=y; a+=z; echo "${a[@]}"; declare -i n; n=3; n+=4; echo $n; declare -ai ia; ia=(1+1 2*3); ia+=(4+4); ia[0]+=5; echo "${ia[@]}"

#### arr9
a=(b a c); printf '%s\n' "${a[@]}" | sort; echo "${a[@]^}" "${a[@]^^}"; echo "${a[@]@Q}" "${#a}" "${a}"; read -a b <<< "${a[*]}"; echo ${b[2]}

#### arr10
a=(1 2 3); for x in "${a[@]}"; do unset 'a[0]'; echo $x; done; echo "${a[@]}"; set -- "${a[@]}"; echo $# $1; a=($(echo x y)); echo ${#a[@]}; a=("$(echo x y)"); echo ${#a[@]}; a=(*nofile*); echo $a; a=({1..3}{a,b}); echo "${a[@]}"

#### arr11
declare -A m=([a]=1); m+=([b]=2 [a]=3); declare -p m; m[c]+=x; m[c]+=y; echo ${m[c]}; echo "${m[@]}" | tr ' ' '\n' | sort | tr '\n' ' '; [[ -v m[a] ]] && echo set; [[ -v m[zz] ]] || echo unset; [[ -v a ]] || echo nope

#### arr12
a=(1 2); echo "${a[@]:5}" "${a[-1]}" ${a[-2]}; a[-1]=9; echo "${a[@]}"; echo ${a[1]:0:1}; b=([0]=); echo ${#b[@]} "${b[0]-u}"; echo ${a[$((0))]} ${a["1"]} ${a['0']}
