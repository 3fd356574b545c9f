package system

import (
	"fmt"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func TestBc(t *testing.T) {
	var cases []commandtest.Case
	add := func(src string, args ...string) {
		cases = append(cases, commandtest.Case{Name: fmt.Sprintf("%d %v", len(cases), args), Args: append([]string{"bc"}, args...), Stdin: src, AnyStderr: true,
			Files: map[string]string{"prog": "x=5\nx*2\n", "q": "1\nquit\n2\n"}})
	}
	for _, src := range []string{"1+2\n", "2^10\n", "10/3\n", "scale=4; 10/3\n", "scale=20\n1/7\n-1/7\n", "7%3\n-7%3\n7%-3\n", "scale=2;7.5%2\n", "1.10*2.20\n", "scale=5;1.1*1.1\n", "1.234567*1.234567\n", "2^-3\nscale=5\n2^-3\n", "1.5^3\n", "sqrt(2)\nscale=10\nsqrt(2)\nsqrt(16)\n", "length(123.456)\nscale(1.230)\nlength(0)\nlength(.001)\n", "obase=16\n255\n10\n.5\n", "obase=2\n10\n.625\n-5\n", "ibase=16\nFF\nA\nobase=A\nFF\n", "ibase=2\n1011\nibase=A\n", "obase=100\n12345\n", "obase=20\n399.5\n", "x=3\nx\nx+=2\nx\nx++\nx\n++x\nx--\n--x\n", "a[1]=5\na[2]=a[1]*2\na[2]\na[3]\n", "define f(x) {\nreturn (x*x)\n}\nf(5)\n", "define f(n) {\nif (n<=1) return (1)\nreturn (n*f(n-1))\n}\nf(20)\nf(50)\n", "define s(a[],n) {\nauto i,t\nfor(i=0;i<n;i++) t+=a[i]\nreturn t\n}\nb[0]=1\nb[1]=2\ns(b[],2)\n", "for(i=0;i<5;i++) i\n", "i=3\nwhile(i>0) {\ni\ni=i-1\n}\n", "if(1) 5 else 6\nif (0) 5 else 6\n", "if(1<2) \"yes\n\"\n", "\"hello\"\n1\n", "print \"a\", 1+1, \"\\n\"\n", "print 1,2,3\nprint \"\\n\"\n", "1==1\n1!=1\n1<2\n2<=1\n1>0\n", "1&&0\n1||0\n!5\n!0\n", "x=y=2\nx\ny\n", "1;2;3\n", "/* comment */ 1\n# another\n2\n", "2+3*4^2\n(2+3)*4\n-2^2\n2^3^2\n", "2^100\n2^300\n", "99999999999999999999*99999999999999999999\n", ".5+.5\n0.5\n-.5\n", "1/0\n5\n", "1+\n2\n", "foo(\n3\n", "quit\n5\n", "1\nhalt\n2\n", "for(;;) { if (i++ > 3) break; i }\n", "for(i=0;i<5;i++) { if (i==2) continue; i }\n", "last\n5\nlast*2\n.\n", "scale=3\nx=10/3\nx\nscale\n", "define f() {\n5\n}\nf()\n", "define void f(x) {\nprint x, \"\\n\"\n}\nf(3)\n", "a=1\ndefine f(a) {\na=a+1\nreturn a\n}\nf(5)\na\n", "x = 5; x\n", "1.0000\n0.10\n", "10^20\n", "100000000000000000000/3\n", "3 > 2 == 1\n", "a = 1 < 2\na\n", "-5%3\n5%-3\n", "1e5\n", "", "\n\n", "1", "define f(x) { return x*2; }\nf(3)\n", "define f(x)\n{\nreturn(x+1)\n}\nf(1)+f(2)\n", "scale=50\n1/3\n", "scale=80\n1/3\n", "(1+2)*3-4/2\n", "i=0\nwhile (i<3) { i=i+1; i }\n", "sqrt(-1)\n1\n", "2^0.5\n", "0^0\n0/5\n", "12345678901234567890 % 97\n", "a=5;b=7;a*b\n", "ibase=8\n17\nobase=8\n17\n", "scale=2;100*1.05^10\n", "1.23456789*100/100\n", "x=1.999;scale=0;x/1\n", "define z(a,b) {\nauto c\nc=a+b\nreturn (c)\n}\nz(1,2)\nz(1)\n", "if (1) {\n1\n} else {\n2\n}\n", "if (0)\n1\n2\n", "1 +* 2\n3\n", "while(0) 1\n5\n", "!1 == 0\n", "a[0]=1;a[1]=2;a[a[0]]\n", "scale=-1\n1/3\n", "obase=1\n5\n", "ibase=17\nF\n", "5--3\n5- -3\n", "_x\n", "A\nF\n1F\n", "length(100)\nlength(.00010)\n", "return 5\n", "break\n", "auto x\n"} {
		add(src)
	}
	for _, src := range []string{"s(1)\n", "c(1)\n", "a(1)*4\n", "l(2)\n", "e(1)\n", "e(0)\n", "e(-1)\n", "e(10)\n", "l(10)\n", "l(0.5)\n", "s(0)\nc(0)\n", "scale=50\n4*a(1)\n", "e(1.5)\n", "s(3.14159)\n", "s(-2)\nc(-2)\n", "a(0.5)\na(2)\na(-1)\na(0)\n", "l(1)\n", "j(0,1)\nj(1,2)\n", "1/3\n", "scale=5\ns(.5)\nc(.5)\ne(.5)\nl(3)\n", "x=2\nl(x)/l(10)\n", "scale=30\ne(1)\nl(7)\ns(2)\n", "e(l(2))\n", "sqrt(2)\n", "2^.5\n", "s(100)\nc(100)\n", "e(50)\n", "l(123456789)\n", "scale=2\n10/4\n", "scale=0\ns(1)\n", "10^-5\n", "a(10000)\n", "l(0)\n"} {
		add(src, "-l")
	}
	add("7\n", "prog")
	add("7\n", "q")
	add("7\n", "nope")
	add("3+4\n", "-q")
	cases = append(cases, commandtest.Case{Name: "unbroken", Args: []string{"bc"}, Stdin: "2^400\n", Env: []string{"BC_LINE_LENGTH=0"}})
	commandtest.Run(t, cases)
}
