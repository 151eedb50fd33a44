printf '%5d|%-5s|%05.2f|%x|%o|%c|%%\n' 42 ab 3.14159 255 8 z
printf '%s\n' a b c
printf -v out '%03d' 7; echo "$out"
printf '%q\n' "a b'c"
printf '%b\n' 'a\tb'
printf '%(%Y)T\n' 0
printf '%s %s\n' a b c
