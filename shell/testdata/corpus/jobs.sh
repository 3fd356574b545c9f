#### jb1
sleep 0.05 & p=$!; wait $p; echo $?; (exit 3) & wait $!; echo $?; wait; echo $?

#### jb3
{ sleep 0.02; echo bg; } & echo fg; wait; echo done

#### jb4
sleep 5 & kill %1; wait $! 2>/dev/null; echo $?; sleep 5 & kill -9 $!; wait $! 2>/dev/null; echo $?

#### jb5
sleep 0.05 & jobs; wait; jobs; false & wait %1; echo $?

#### jb6
x=1; { x=2; } & wait; echo $x; (x=3); echo $x; f() { echo f$x; }; f & wait

#### jb9
echo $!; sleep 1 & [ -n "$!" ] && echo set; disown; jobs; disown %9; echo $?
