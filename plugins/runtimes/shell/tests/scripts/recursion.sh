fact() { if (( $1 <= 1 )); then echo 1; else local r; r=$(fact $(($1 - 1))); echo $(($1 * r)); fi; }
fact 10
