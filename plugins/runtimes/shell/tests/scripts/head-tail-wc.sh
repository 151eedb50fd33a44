seq 20 > s; head -3 s; head -n 2 s; head -n -17 s; tail -2 s; tail -n +19 s; head -c 5 s; echo; tail -c 4 s; wc -l s; wc -l < s; wc s; printf 'a b c' | wc -w; wc -c < s; printf 'é' | wc -m
