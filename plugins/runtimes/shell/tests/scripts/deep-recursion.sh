count() { if (( $1 > 0 )); then count $(($1 - 1)); else echo done; fi; }
count 14
