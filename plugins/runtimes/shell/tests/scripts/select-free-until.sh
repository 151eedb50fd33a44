n=3; until ((n==0)); do echo $n; ((n--)); done
for i in 1 2 3 4; do ((i==2)) && continue; ((i==4)) && break; echo $i; done
