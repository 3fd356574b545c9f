#### sel1
select x in a b c; do echo "got $x $REPLY"; [ "$x" = c ] && break; done <<< $'1\n9\n\n3'

#### sel2
PS3="pick> "; select x in "one two" three; do echo $x; done <<< 2; echo $?

#### sel3
select x in 1 2 3 4 5 6 7 8 9 10 11 12; do break; done <<< 1; echo $x

#### sel4
set -- p q; select x; do echo $x; break; done <<< 2

#### cp1
coproc { read x; echo "got $x"; }; echo hi >&${COPROC[1]}; read y <&${COPROC[0]}; echo $y; wait $COPROC_PID; echo $?

#### cp2
coproc MY { cat; }; echo a >&${MY[1]}; eval "exec ${MY[1]}>&-"; cat <&${MY[0]}
