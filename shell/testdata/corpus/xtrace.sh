#### xt1
set -x; echo a "b c" '' $'x\ny' 'it'\''s'; x=5; y="a b" z=; a=(1 "2 3"); a[1]=q; x+=1

#### xt2
set -x; for i in 1 2; do echo $i; done; while false; do :; done; if [ a = a ]; then :; fi; case x in y) ;; x) echo c;; esac

#### xt3
set -x; [[ a == b* && -n x ]]; (( 1+1 )); for ((i=0;i<1;i++)); do :; done; ! false; x=$(echo sub); echo $(echo $(echo deep))

#### xt4
PS4='$LINENO+ '; set -x; echo a
f() { echo in; }
f b

#### xt6
set -x; echo > f; cat < f 2>&1; exec 3>f; : ${x:=def}; set +x; echo off

#### xt8
PS4='+${FUNCNAME[0]}:$LINENO: '; set -x; f() { echo hi; }; f

#### xt9
exec 9>tr; BASH_XTRACEFD=9; set -x; echo a; set +x; cat tr
