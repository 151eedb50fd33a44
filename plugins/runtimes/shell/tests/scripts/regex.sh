s="release-1.22.3-rc1"
if [[ $s =~ ^release-([0-9]+)\.([0-9]+)\.([0-9]+)(-(.*))?$ ]]; then
  printf '%s|' "${BASH_REMATCH[@]}"; echo
fi
re='^[[:alpha:]_]+$'
for w in abc a_b a1; do [[ $w =~ $re ]] && echo "ok $w" || echo "no $w"; done
