s='héllo wörld ñ'; echo "${#s}" "${s^^}"; echo "$s" | wc -m; echo "${s:1:4}"; printf '%-8s|\n' 'é'; echo "$s" | sed 's/ö/o/'; echo "$s" | grep -o 'w.r'; echo '日本' | rev
