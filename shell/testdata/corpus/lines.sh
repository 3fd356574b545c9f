#### l1
eval "echo \$LINENO
echo \$LINENO

echo \$LINENO"; echo $LINENO

#### l2


eval "echo \$LINENO
echo \$LINENO

echo \$LINENO; foo"; echo $LINENO

#### l3
eval "foo
bar"

#### l4
eval "foo"

#### l5
eval "
foo; bar
baz"

#### l6
f() {
 echo $LINENO
 eval "echo \$LINENO"
 eval "echo \$LINENO
foo"
}
f

#### l7
trap "echo t \$LINENO; foo" EXIT

:

#### l8
trap "echo t \$LINENO
foo" DEBUG

:

#### l9
x=$(
echo $LINENO
foo)
echo $x

#### l10
x=`
echo $LINENO
foo`
echo $x

#### l11
(
foo
echo $LINENO
)

#### l12
cat <<E
$LINENO
$(foo)
E

#### l13
echo a \
 $LINENO \
 $(foo)

#### l14
foo \
 a

#### l16
echo "
" $LINENO; foo "
"

#### l17
for i in 1 $(foo
); do
bar
done

#### l18
[[ a == ${b c} ]]
x=(a
$(foo)
b)

#### l19
case a in
b) ;;
a) foo ;;
esac

#### l21
a=1 \
 foo
