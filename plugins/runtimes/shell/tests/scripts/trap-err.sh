trap 'echo "err at $LINENO: $?"' ERR
false
true
