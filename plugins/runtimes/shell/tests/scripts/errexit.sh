set -euo pipefail
echo one
false
echo two
