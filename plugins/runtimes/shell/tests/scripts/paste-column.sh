printf 'a\nb\n' > p1; printf '1\n2\n' > p2; paste p1 p2; paste -d, p1 p2; paste -sd+ p2; printf 'name age\nbob 3\nalice 44\n' | column -t; printf 'a:b\nccc:d\n' | column -t -s:
