printf 'foo bar\nFoo\nbaz 123\nqux\n' > g.txt
grep foo g.txt; grep -i foo g.txt; grep -n ba g.txt; grep -c . g.txt; grep -v foo g.txt; grep -o '[0-9]\+' g.txt; grep -E 'foo|qux' g.txt; grep -q nothing g.txt; echo $?
grep -rn 123 . | sort; grep -l foo *.txt; grep -w bar g.txt; grep -A1 Foo g.txt; grep -P '\d+' g.txt; grep -F '.' g.txt; echo "rc $?"
grep x nofile; echo "rc $?"
