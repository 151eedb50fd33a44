printf '\x01\xfe\xff'; printf '\xc3\x28' > b; cat b; wc -c < b; head -c 1 b | od -An -tx1; printf 'a\0b' | tr '\0' '\n'; cat b b | od -An -tx1
