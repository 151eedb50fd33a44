mkdir -p lib; echo 'greet() { echo "hello $1 from ${BASH_SOURCE[0]##*/}"; }; LIBVAR=ok' > lib/lib.sh
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ -d $here ]] && echo dir
source lib/lib.sh; greet you; echo "$LIBVAR"
. ./lib/lib.sh && echo again
basename "$0" | grep -c source
[[ "${BASH_SOURCE[0]}" == "$0" ]] && echo main
