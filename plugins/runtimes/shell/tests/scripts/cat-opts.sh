printf 'a\n\n\nb\tc\n' > f; cat -n f; cat -A f; cat -s f; cat -b f; cat -E f; cat f - <<< stdin; echo x | cat - f | head -1; cat -- f >/dev/null && echo ok
