main() {
  local dir
  dir="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
  [[ -f "$dir/source-in-function.sh" ]] && echo found
  echo "${FUNCNAME[0]} $(basename "$0") $(basename "$BASH_SOURCE")"
}
[[ "${BASH_SOURCE[0]}" == "${0}" ]] && main "$@"
here=${BASH_SOURCE[0]%/*}; [ -d "$here" ] && echo dir
