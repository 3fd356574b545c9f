#### br1
echo {a,b,c} {1..5} {5..1} {a..e} {a..e..2} {1..10..3} {01..03} {-2..2} x{1,2}y{3,4} {a,{b,c}d} {} {a} {a,} {,b} a{,}b {1..} '{a,b}' "{a,b}" \{a,b} {a\,b,c} {$x,y} {a,"b c"} {10..1..4} {z..x} {A..C}

#### br2
x=5; echo {1..$x} {a,b}$x ${x}{a,b} {x,y}{1..2} pre{-,+}post a{b,c}{d,e}f {{a,b},{c,d}} {a,b}{ {1..3}} {a..c}{1..2} {1..3}{,x} {0..10..5} {001..10..4} {a,b,} {,,} {a..z..10} {-5..-1..2} {1..2..0}

#### br3
set +B; echo {a,b}; set -B; echo {a,b}; echo a={1,2} --x={p,q}; y={a,b}; echo $y; echo {1,2}{,,}; for i in {1..3}; do echo -n $i; done; case a in {a,b}) echo m;; *) echo nm;; esac; echo ${z:-{a,b}} "${z:-{a,b}}"
