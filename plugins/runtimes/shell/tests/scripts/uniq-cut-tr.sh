printf 'a\na\nb\n' | uniq -c; printf 'a\na\nb\n' | uniq -d; printf 'a\na\nb\n' | uniq -u
echo 'a:b:c:d' | cut -d: -f2,4; echo abcdef | cut -c2-4; echo 'a:b:c' | cut -d: -f2-; echo 'a b' | cut -d' ' -f1 --complement; echo abc | cut -b1
echo 'Hello' | tr 'a-z' 'A-Z'; echo 'a  b' | tr -s ' '; echo 'a1b2' | tr -d '0-9'; echo 'a b' | tr ' ' '\n'; echo hello | tr -cd 'l\n'; echo abc | tr '[:lower:]' '[:upper:]'
