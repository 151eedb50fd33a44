printf 'a,1\nb,2\nc' | while IFS=, read -r k v || [[ -n $k ]]; do echo "$k -> $v"; done
n=0; while read -r line; do n=$((n+1)); done < <(printf '1\n2\n3\n'); echo $n
