echo out > o.txt; echo more >> o.txt; cat < o.txt
{ echo a; echo b >&2; } > both.txt 2>&1; cat both.txt
ls nofile 2>/dev/null || echo failed
echo err >&2
exec 3> three.txt; echo to3 >&3; exec 3>&-; cat three.txt
cat nofile 2>&1 | sed 's/^.*: //'
echo x &> all.txt; cat all.txt
echo discard > /dev/null; echo e > /dev/stderr; echo o > /dev/stdout; cat /dev/stdin < o.txt
