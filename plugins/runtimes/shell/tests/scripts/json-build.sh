items=(a "b c" 'd"e'); printf '%s\n' "${items[@]}" | jq -R . | jq -cs '{items: .}'
jq -n --arg name "x y" --argjson n 3 '{name:$name,n:$n}'
