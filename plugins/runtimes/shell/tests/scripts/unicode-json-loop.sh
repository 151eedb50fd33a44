printf '%s\n' '{"k":"ü","v":[1,2]}' '{"k":"日","v":[]}' > l.ndjson; while IFS= read -r line; do k=$(jq -r .k <<< "$line"); n=$(jq '.v|length' <<< "$line"); printf '%s=%d\n' "$k" "$n"; done < l.ndjson
