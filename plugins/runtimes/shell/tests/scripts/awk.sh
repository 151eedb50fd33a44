printf 'alice 30 NY\nbob 25 LA\ncarol 35 SF\n' > a.txt
awk '{print $1}' a.txt; awk '$2>28{print $1,$2}' a.txt; awk '{s+=$2} END{print s, s/NR}' a.txt; awk -F' ' 'NR==2{print NF, $NF}' a.txt; awk 'BEGIN{FS=" ";OFS="-"}{$1=$1;print}' a.txt
awk -v n=5 'BEGIN{for(i=1;i<=n;i++) printf "%d%s", i, (i<n?",":"\n")}'; awk '{c[substr($1,1,1)]++} END{for(k in c) print k, c[k]}' a.txt | sort
awk 'BEGIN{print length("abc"), toupper("x"), index("hello","l"), sprintf("%05.1f", 3.14159); split("a:b:c",p,":"); print p[2]; s="aXbX"; gsub(/X/,"-",s); print s; print substr("hello",2,3); if (match("foo123",/[0-9]+/)) print RSTART, RLENGTH}'
awk '/bob/{next} {print NR": "$0}' a.txt; awk 'END{print NR}' a.txt; printf 'k=v\n' | awk -F= '{print $2}'
awk 'function f(x){return x*2} BEGIN{print f(21); while(i<3){i++}; print i; print 1e6, 0.1+0.2, 100000000, 3/2, int(7/2), 2^10}'
