export TZ=UTC; date -d @1700000000 '+%a %b %e %H:%M:%S %Y|%y|%m|%-d|%-m|%I %p|%Z|%z|%:z|%U|%V|%G|%w|%D|%R|%s|%N|%3N|%C|%c|%x|%X|%h|%n|%t|%%|%P'; date --date=@0 --utc +%FT%TZ; date -ud @0
