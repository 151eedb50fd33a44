mapfile -t lines < <(printf 'x\ny z\n\nw\n'); echo "${#lines[@]}"; printf '[%s]\n' "${lines[@]}"
readarray -t more <<< $'p\nq'; echo "${more[1]}"
