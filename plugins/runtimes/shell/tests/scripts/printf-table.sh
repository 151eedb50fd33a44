while IFS='|' read -r name qty price; do printf '%-10s %5d %8.2f\n' "$name" "$qty" "$price"; done <<'T'
apple|3|1.5
kiwi|12|0.25
T
