add() { local a=$1 b=$2; echo $((a + b)); }
x=$(add 2 3); echo "$x"
f() { return 5; }
f || echo "rc $?"
outer() { local v=1; inner; echo "v=$v"; }
inner() { v=2; }
v=0; outer; echo "v=$v"
