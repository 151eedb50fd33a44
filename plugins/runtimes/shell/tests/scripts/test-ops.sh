[ -d . ] && echo d; [ -f nofile ] || echo nof; [ "a" = "a" ] && echo eq; [ 3 -gt 2 ] && echo gt
[[ "abc" == a* ]] && echo glob; [[ abc < abd ]] && echo lt; [[ -z "" && -n x ]] && echo both
test -e /dev/null && echo devnull
touch f; [ -s f ] || echo empty; echo x > f; [ -s f ] && echo nonempty; [ f -nt nofile ] && echo newer
