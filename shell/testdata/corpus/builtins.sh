#### PIPESTATUS assign
PIPESTATUS=3; echo $PIPESTATUS

#### pipestatus
false; echo $PIPESTATUS; true | false | true; echo ${PIPESTATUS[@]}; ! false; echo $PIPESTATUS $?; (exit 3); echo $PIPESTATUS; { false | true; }; echo ${PIPESTATUS[@]}; x=$(false); echo $PIPESTATUS

#### b1
cd -z; echo $?

#### b2
read -z; echo $?

#### b3
read -u; echo $?

#### b4
trap; trap -z; echo $?

#### b5
break; echo $?; f() { break; }; for i in 1 2; do f; echo $i; done

#### b6
return 3; echo $?

#### b7
exit abc; echo x

#### b8
shift 5; echo $?; shift -1; echo $?; shift a

#### b9
for i in 1; do break 0; echo $?; done; for i in 1; do break a; done; echo $?

#### b10
declare -z; echo $?; local x

#### b11
eval -z; echo $?

#### b12
source; echo $?; source nofile; echo $?

#### b13
command; command -z; echo $?; command nope; echo $?

#### b14
builtin nope; echo $?

#### b15
type nope; echo $?; type -t nope; echo $?

#### b16
hash nope; echo $?; hash; hash -r

#### b17
cd a b; echo $?; cd ""; echo $?; HOME=; cd; echo $?; unset HOME; cd; echo $?

#### b18
printf; echo $?; printf -v; echo $?; printf %d abc; echo $?; printf %z; echo $?; printf "%d %s\n" 1 a 2

#### b19
getopts; echo $?; getopts a; echo $?

#### b20
umask 9; echo $?; umask -S; umask; umask u=rwx,g=,o=; umask

#### b21
ulimit -z; echo $?; ulimit abc

#### b22
alias nope; echo $?; unalias nope; echo $?; alias a=b c="d e"; alias; alias a

#### b23
set -o nope; echo $?; set -Z; echo $?; shopt nope; echo $?; shopt -s nope; echo $?; shopt extglob; echo $?

#### b24
enable nope; echo $?; enable -n shift; type -t shift; echo $?; enable shift; type -t shift

#### b25
let; echo $?; let 0; echo $?; let 1 0; echo $?; let "1+"; echo $?

#### b26
test 1 -eq a; echo $?; [ a; echo $?; [ 1 -foo 2 ]; echo $?; test a b; echo $?; test ! a b c; echo $?; [ \( ]; echo $?; [ -z ]; echo $?; [ ! ]; [ a = ] ; echo $?; [ -f a b ]; echo $?; [ a -a ]; echo $?; [ 1 -eq ]; echo $?; test a -o b -a ""; echo $?; test \( a \); echo $?; test \( a -a b \) -o c; echo $?; [ x -gt 1 ]; echo $?; [ "" ]; echo $?

#### b27
kill; echo $?; kill -l 9 15 TERM; kill abc; echo $?; kill 999999; echo $?; kill -zz 1

#### b28
wait abc; echo $?; wait 99999; echo $?; wait %1; echo $?; wait -n; echo $?

#### b29
exec nope; echo x

#### b30
touch f; exec ./nofile; echo x

#### b31
mapfile -z; echo $?; mapfile -u 9 a; echo $?; mapfile 1a; echo $?

#### b32
pushd; echo $?; popd; echo $?; dirs +5; echo $?; pushd /nope; echo $?; pushd +3

#### b33
caller; echo $?; f() { caller; caller 0; caller 1; }; f; echo $?

#### b34
logout; echo $?

#### b35
fg; echo $?; suspend; echo $?; bg

#### b36
history; echo $?; fc -l; echo $?

#### b37
compgen -z; echo $?; compgen -W "a b ab" a; complete -p; echo $?

#### b38
unset -z; echo $?; readonly -z; export -z; echo $?

#### b39
true -z; false --help; : -x; echo $?
