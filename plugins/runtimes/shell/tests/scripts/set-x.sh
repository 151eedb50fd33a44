set -x
a=1
echo "$a"
