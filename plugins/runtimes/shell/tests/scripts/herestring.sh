read -r a b <<< "one two three"; echo "$a|$b"
grep -c o <<< $'one\ntwo\nthree'
