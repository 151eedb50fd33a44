f() { for i in 1 2 3; do [ $i = 2 ] && return 3; echo $i; done; }; f; echo $?; g() { echo "$@"; }; g "$(f)"; h() ( exit 4 ); h; echo $?
