#### pf1
printf "%d\n" 0x1f 010 "'a" "\"b" 08; echo $?

#### pf2
printf "%d %d\n" 3.5 9223372036854775808 -9223372036854775809; echo $?

#### pf3
printf "%u %o %x %X %#x %#o\n" -1 8 255 255 255 8

#### pf4
printf "%5d|%-5d|%05d|%+d|% d|%.3d|%5.3d\n" 1 2 3 4 5 6 7

#### pf5
printf "%s|%5s|%-5s|%.2s|%5.1s\n" abc abc abc abc abc

#### pf6
printf "%c%c\n" abc "" ; printf "%b|%b\n" "a\tb" "x\c" y

#### pf7
printf "%q %q %q %q\n" "a b" "" $'a\nb' "it's"

#### pf8
printf "%*d|%-*d|%.*f\n" 5 1 5 2 2 3.14159

#### pf9
printf "%f %e %g %G %.2f %a\n" 1.5 1.5 1.5 1e10 2.345 1

#### pf10
printf "%s %s\n" a b c; printf "x\n" a b; printf "%%\n"

#### pf11
printf "%(%Y-%m-%d)T\n" 0; printf "%(%s)T\n" 5; printf "%(abc)T|\n"; TZ=UTC printf "%(%H:%M)T %(%c)T\n" 3600 0

#### pf12
printf "\x41\101\u00e9\n"; printf "a\cb"; printf "\0101\n"

#### pf13
printf -v x "%s-%s" a b; echo $x; printf -v a[2] hi; echo ${a[2]}; printf -v 1x a; echo $?

#### pf14
printf "%i\n" abc 5; echo $?; printf "%d\n" "" ; echo $?; printf "%d\n" "5 "; echo $?

#### pf15
printf "%.*s|\n" -1 abc; printf "%-*s|\n" -5 ab; printf "%5%|\n"; printf "%y"; echo $?

#### pf16
printf "%s\n" "a" "b" "c" ; printf "%s %d\n" a; printf "%ld %lld %hd %zd\n" 1 2 3 4

#### pf17
printf "%.0f %.0f %.0f %.0f\n" 0.5 1.5 2.5 -0.5; printf "%f\n" inf nan -inf 1e400; printf "%g\n" 100000 1000000 0.0001 0.00001 123456789

#### pf18
printf "%Q|%.2Q\n" "a b" "a b"; printf "%#q\n" x

#### pf19
printf "%n" x; echo $?; printf "%1\$s"; echo $?

#### pf20
printf -- "-x\n"; printf - ; printf -x; echo $?

#### pf21
printf "%#.3x %+.2e %010.2f|% x\n" 10 12345.678 3.14159 5

#### pf22
printf '%d\n' 1e3 "'é" "'"; echo $?

#### pf23
printf "%s" abc >&-; echo $?; echo hi >/dev/full; echo $?

#### pf24
printf "%b" "\x" "\u" "\8" "\07"; printf "\8\q\""
