x=1; (x=2; echo "in $x"); echo "out $x"
y=$(cd /; pwd); echo "$y"
{ echo grouped; echo more; } | wc -l
