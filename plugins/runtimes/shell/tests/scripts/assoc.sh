declare -A m=([a]=1 [b]=2)
m[c]=3
for k in $(printf '%s\n' "${!m[@]}" | sort); do echo "$k=${m[$k]}"; done
[[ -v m[a] ]] && echo yes
unset 'm[a]'; echo "${#m[@]}"
[[ -n ${m[zzz]:-} ]] || echo none
