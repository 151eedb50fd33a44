echo "$# $* $@"; echo "${1:-none}"; basename "$0"
