for i in $(seq 1 300); do echo "line $i of output"; done | md5sum; s=$(printf 'x%.0s' {1..5000}); echo ${#s}
