mkdir q; touch "q/a b" q/c; while IFS= read -r -d '' f; do echo "<$f>"; done < <(find q -type f -print0 | sort -z)
for f in q/*; do [ -e "$f" ] && echo "${f##*/}"; done
