printf abc > f; touch -d @1700000000 f; export TZ=UTC; stat -c '%n|%s|%Y|%a|%F|%A' f; stat --format=%s f; stat -c '%x' f >/dev/null; true
