set -u
echo start
echo "$nothing"
echo unreachable
