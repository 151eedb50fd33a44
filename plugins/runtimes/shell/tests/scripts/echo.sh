echo hi
echo -n a; echo -e 'b\tc\\n'; echo -E 'x\ty'
