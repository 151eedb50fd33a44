i=0; while true; do i=$((i+1)); [ $i -ge 1000 ] && break; done; echo $i; while :; do break; done; for (( ; ; )); do break; done; seq 100000 | while read -r n; do :; done; echo done
