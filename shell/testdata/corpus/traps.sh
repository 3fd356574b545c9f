#### tr1
trap 'echo bye' EXIT; echo hi

#### tr2
trap 'echo bye $?' EXIT; exit 3

#### tr3
trap 'echo int' INT; kill -INT $$; echo after; trap - INT; trap

#### tr4
trap 'echo a' USR1 USR2; trap -p; trap; trap -p USR1; kill -USR1 $$; kill -s USR2 $$; trap '' USR1; kill -USR1 $$; trap -p

#### tr5
(trap 'echo sub' EXIT; echo in); echo out; trap 'echo main' EXIT; (echo s2); x=$(trap 'echo cs' EXIT; echo v); echo "$x"

#### tr6
trap 'echo dbg $BASH_COMMAND' DEBUG; echo a; x=1; if true; then echo b; fi; f() { echo c; }; f

#### tr7
f() { trap 'echo ret' RETURN; echo in; }; f; f; g() { echo g; }; g

#### tr8
trap 'echo exit; exit 5' EXIT; exit 2

#### tr9
trap 'echo ${x}' EXIT; x=5; x=6; exit

#### tr10
trap 'echo a; trap - EXIT; exit 7' EXIT

#### tr11
trap foo; echo $?; trap 'x' NOSIG; echo $?; trap - EXIT NOSIG; echo $?; trap 'y' 0; trap; trap 0; trap

#### tr12
trap 'echo term; exit 1' TERM; kill $$; echo no

#### tr13
kill -TERM $BASHPID; echo no

#### tr15
trap "echo 'q\"x'" EXIT; trap -p EXIT

#### tr16
f() { trap 'echo inf' EXIT; }; f; echo main

#### tr17
trap 'echo err $LINENO' ERR
false
true
f() { false; }
f

#### tr18
trap 'echo E' EXIT; bash -c 'trap "echo inner" EXIT; exit 4'; echo $?
