printf 'one two\nthree four\nfive\n' > s.txt
sed 's/o/0/g' s.txt; sed -n '2p' s.txt; sed '1d' s.txt; sed -E 's/(\w+) (\w+)/\2 \1/' s.txt; sed '/three/i\inserted' s.txt; sed -n '/one/,/three/p' s.txt; sed '$!N;s/\n/ /' s.txt
sed -i 's/five/5/' s.txt; cat s.txt; sed -e 's/a/b/' -e 's|two|2|' s.txt; sed 's/\(t\)\(w\)/\2\1/;s/&/and/' s.txt; sed 'y/abc/xyz/' s.txt; sed '2q' s.txt; sed = s.txt | head -2
