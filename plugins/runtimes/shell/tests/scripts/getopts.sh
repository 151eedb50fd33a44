parse() { local OPTIND opt; while getopts ":ab:c" opt "$@"; do case $opt in a) echo a;; b) echo "b=$OPTARG";; c) echo c;; :) echo "need $OPTARG";; \?) echo "bad $OPTARG";; esac; done; shift $((OPTIND-1)); echo "rest $*"; }
parse -a -b val -c x y
parse -b
parse -z
