(sleep 0.05; echo bg1) &
echo fg
wait
echo after
{ echo from-group; } &
wait $!
echo "rc $?"
false &
wait $! || echo "failed $?"
