declare -A o=([k]=base [nobody]=3); key=k; owner=; a=(zero one two); i=1; x=yes
echo "1 ${x:+${a[0]}} 2 ${x:+${a[i]}} 3 ${x:+${a[$i]}} 4 ${e:-${a[0]}} 5 ${e:-${a[i]}} 6 ${x:+"${a[1]}"} 7 ${x:+${o[k]}} 8 ${x:+${o[$key]}}"
echo 9 ${x:+${a[1]}} 10 ${x:+${a[@]}} 11 "${x:+${a[@]}}" 12 "${x:+${#a[@]}}" 14 "${e:-${o[$key]}}" 15 "${x:+$(echo ${a[1]})}" 16 "${x:+${key}}" 17 "${x:+${key%k}z}"  18 "${x:+pre ${x:-n} post}"
echo 19 "${o[$(echo nobody)]:-0}" 20 "${o[${owner:-nobody}]}" 21 "${o[${key}]:-0}" 22 "${o["${key}"]:-0}" 23 "${a[${#a[@]}-1]}" 24 "${a[${i}]:-z}" 25 "${a[$((i+1))]:-z}" 26 "${a[i+1]:-z}" 27 "${o[${owner:-nobody}]:-0}"
echo 28 $((${a[0]:-1} + 1)) 29 $(( ${#a[@]} + 1 )) 30 $(( ${o[nobody]} + ${o[$(echo nobody)]:-0} )) 31 $((${o[${key}]:-0}))
y=${x:+${a[1]}}; echo 32 $y; y="${x:+${a[1]}}"; echo 33 $y; [[ ${x:+${a[1]}} == one ]] && echo 34; case ${x:+${a[1]}} in one) echo 35;; esac; f() { echo 36 "$1"; }; f "${x:+${a[1]}}"; echo 37 "${x:+${a[1]:-q}}" 38 "${x:+${a[1]^^}}" 39 "${x:+${a[-1]}}" 40 "${x:+${BASH_REMATCH[0]}}"
