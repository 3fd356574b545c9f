#### gl1
touch a.txt b.txt .hid c.md; mkdir -p d/e; touch d/x.txt d/e/y.txt; echo *; echo *.txt; echo .*; echo d/*; echo */; echo */*.txt; echo [ab].*; echo [!a]*.txt; echo nope*; echo ?.md; echo "*.txt" '*'; echo \*; echo a*b*

#### gl2
touch a b ab abc; shopt -s nullglob; echo x*y; echo [x]; shopt -u nullglob; shopt -s failglob; echo zz*; echo after
echo $?

#### gl3
mkdir -p p/q/r; touch p/1 p/q/2 p/q/r/3 .h; shopt -s globstar; echo **; echo p/**; echo **/3; echo **/; shopt -s dotglob; echo *; echo **/*r*

#### gl4
touch foo.c foo.h foo.o bar.c; shopt -s extglob; echo *.@(c|h); echo !(*.c); echo +([a-z]).c; echo ?(foo|bar).o; echo *(f|o|b).*; case foo in f+(o)) echo y;; esac; x=foo.tar.gz; echo ${x%%.*} ${x##*.} ${x%.@(gz|bz2)}; [[ foobar == !(baz) ]] && echo n

#### gl5
touch 'a b' 'c*d' "e'f"; for f in *; do echo "[$f]"; done; x='a b'; ls $x 2>/dev/null; ls "$x"; echo c\*d c"*"*; y='*'; echo $y; echo "$y"; set -f; echo *; set +f

#### gl6
touch A a B b; shopt -s nocaseglob; echo a*; shopt -u nocaseglob; shopt -s nocasematch; case ABC in abc) echo m;; esac; [[ Abc == aBC ]] && echo m2; [[ ABC =~ b ]] && echo ${BASH_REMATCH[0]}; x=ABC; echo ${x/b/_}

#### gl7
touch x1 x2 x10; echo x[0-9] x[[:digit:]]* x[^1]; GLOBIGNORE='x1:*0'; echo x*; unset GLOBIGNORE; echo x?; mkdir -p 'dir[1]'; touch 'dir[1]/f'; echo dir\[1\]/* 'dir[1]'/*
