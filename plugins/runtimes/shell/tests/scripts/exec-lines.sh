exec 5>&1
echo five >&5
exec > log.txt
echo logged
exec 1>&5
cat log.txt
exec 2>&1
ls nofile | cat
ls nofile2
exec echo replaced
echo never
