printf 'b\na\nc\nb\n' | sort | uniq -c | sort -rn | head -2 | awk '{print $2, $1}'
false | true; echo "$? ${PIPESTATUS[*]}"
set -o pipefail; false | true; echo $?
echo abc | { read -r v; echo "got $v"; }
