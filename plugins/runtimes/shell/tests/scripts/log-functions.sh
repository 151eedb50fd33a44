log() { printf '[%s] %s\n' "$1" "${*:2}" >&2; }
die() { log ERROR "$@"; exit 9; }
log INFO starting up
[[ -f missing.cfg ]] || die "no config"
