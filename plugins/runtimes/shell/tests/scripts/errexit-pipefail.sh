set -euo pipefail
trap 'echo "trap $?"' EXIT
echo x | grep -q y | cat
echo unreachable
