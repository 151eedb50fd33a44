trap 'echo bye; exit 7' EXIT
echo hi
exit 2
