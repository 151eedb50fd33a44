command -v cat >/dev/null && echo has-cat
command -v definitely-not-there >/dev/null || echo none
type -t cd; type -t parse_nothing || echo no-type
hash jq 2>/dev/null && echo jq
which sed >/dev/null && echo which
