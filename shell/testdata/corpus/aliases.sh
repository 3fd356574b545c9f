#### al1
shopt -s expand_aliases
alias e='echo aliased'
e x
alias a='echo ' b='hi'
a b
unalias e; e y

#### al2
alias foo='echo no'; foo; shopt -s expand_aliases; alias bar='echo yes'; bar
bar
