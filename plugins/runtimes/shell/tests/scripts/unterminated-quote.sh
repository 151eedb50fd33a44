echo start
echo "never closed
