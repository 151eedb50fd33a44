echo a
nosuchcommand arg
echo "rc $?"
