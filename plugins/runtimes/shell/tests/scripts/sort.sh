printf '10 b\n9 a\n2 c\n' > n.txt
sort n.txt; sort -n n.txt; sort -rn n.txt; sort -k2 n.txt; sort -k1,1n -k2 n.txt; printf 'b\na\nb\n' | sort -u; printf '1.10\n1.9\n' | sort -V; printf 'a,3\nb,1\n' | sort -t, -k2n; printf '2K\n1M\n' | sort -h; printf 'B\na\n' | sort -f
