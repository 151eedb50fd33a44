sleep 0.01; echo slept; SECONDS=0; [ $SECONDS -lt 5 ] && echo fast; wait; true & wait $!; echo "bg $?"; (sleep 0.02; echo late) & echo early; wait
