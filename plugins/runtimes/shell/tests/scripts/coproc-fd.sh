exec 4< <(printf 'l1\nl2\n'); read -r a <&4; read -r b <&4; echo "$a $b"; exec 4<&-; echo hi 2>&1 1>/dev/null; { echo o; echo e >&2; } 2>&1 | sort
