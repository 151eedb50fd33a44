echo $((7/2)) $((7%3)) $((2**10)) $((-7/2)) $((1<<4)) $((0xff)) $((8#17)) $((5>3?1:0))
i=5; ((i++)); ((i+=2)); echo $i; let "j=i*2"; echo $j
for ((k=0;k<3;k++)); do echo -n "$k "; done; echo
((0)) || echo zero
