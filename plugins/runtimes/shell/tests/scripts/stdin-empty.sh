read -r x; echo "rc $? [$x]"; cat; echo after
