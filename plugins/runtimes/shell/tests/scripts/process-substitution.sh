diff <(printf 'a\nb\n') <(printf 'a\nc\n')
paste <(seq 3) <(seq 4 6)
comm -12 <(printf 'a\nb\n') <(printf 'b\nc\n')
