usage() { cat <<U
Usage: ${0##*/} [options]
  -h  help
U
}
while [[ $# -gt 0 ]]; do case $1 in -h) usage; exit 0;; *) shift;; esac; done
usage; exit 64
