# Functions shown as source: here-documents, substitutions, odd spacing.

#### print-heredocs
f() { a | cat <<E | d; x; y; b && cat <<F && g; h
one
E
two
F
if cat <<G; then k; fi; if c; then cat <<H
gg
G
hh
H
fi; z >w; u; cat <<I | v & p; q
ii
I
cat <<J &
jj
J
while cat <<K; do :; done <<L
kk
K
ll
L
m; n
}
declare -f f

#### print-substitutions
f() { 
x=$(a
b; c || { r=1
d
if e
then f
g
fi
h; }
if i; then j
k; { l
m; }
fi
for q in 1; do
( z
y )
w || { d
e; }
if g; then o; fi || { p
q; }
done
{ o
p; }
)
}
declare -f f

#### print-nested
f() { 
a=$( (x) ); b=$((x) ); c=$( (x); y); d=$((x  ;  z) | w); e=$(
(k)); g=$((x) | z); for ((i=0; i<3 ; i++ )); do :; done; for (( i=0;;)); do :; done
for ((  i = 0  ;  i < 3  ;  i ++  )); do :; done
h=$(((x); y) ); i="$((x) )"
}
declare -f f
g() { a <( (x) ) >((x);y); }
declare -f g
