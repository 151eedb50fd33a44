a=(1 2 3); echo "${a[@]@Q}"; x="a b"; echo ${x@Q}; echo "${x@A}"; y=(a b); declare -p y x; declare -A z=([q]=1); declare -p z; f() { :; }; declare -f f
