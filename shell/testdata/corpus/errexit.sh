#### eh1
set -e; false; echo no

#### eh2
set -e; false || true; echo a; if false; then :; fi; echo b; ! true; echo c; false && true; echo d; (false); echo no

#### eh3
set -e; f() { false; echo in; }; f || echo or; f; echo no

#### eh4
set -e; x=$(false); echo no

#### eh5
set -e; echo $(false); echo a; local_test() { local x=$(false); echo b; }; local_test; x=$(echo a; false; echo b); echo "$x"

#### eh6
set -e; true | false; echo no

#### eh7
set -e; false | true; echo a; set -o pipefail; false | true; echo no

#### eh8
set -e; trap 'echo exit $?' EXIT; false

#### eh9
set -e; trap 'echo err $?' ERR; f() { false; }; f; echo no

#### eh10
set -eE; trap 'echo err $? $LINENO' ERR; f() { 
false
}; f; echo no

#### eh11
trap 'echo err' ERR; false; true; false || true; ! true; (exit 3); f() { return 2; }; f; echo z

#### eh12
set -e; while false; do :; done; until true; do :; done; for i in; do false; done; case x in y) false;; esac; echo ok; [[ a == b ]]; echo no

#### eh13
set -e; ((0)); echo no

#### eh14
set -e; { false; }; echo no

#### eh15
set -e; eval false; echo no

#### eh16
set -e; eval 'false; echo in' || echo or; (set -e; false; echo x) || echo or2; echo $(set -e; false; echo y)

#### eh17
set -e; command false; echo no

#### eh18
set -u; echo ${x:-a}; echo $x; echo no

#### eh19
set -euo pipefail; x=${1:-d}; echo $x; y=$(cat nofile); echo no

#### eh20
set -e; f() { set +e; false; echo a; }; f; false; echo b

#### eh21
shopt -s inherit_errexit; set -e; x=$(false; echo a); echo "no $x"

#### eh22
set -e; if f() { false; }; then f || true; fi; ! false; echo a; false & wait $!; echo no

#### eh23
set -e; a=1; ((a--)) || true; ((a++)) ; echo no

#### eh24
set -e; test -f nofile && echo x; echo y; [ -f nofile ] || echo z; readonly q=1; export z=$(false); echo w
