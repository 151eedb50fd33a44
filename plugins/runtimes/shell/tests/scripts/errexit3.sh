set -e; f() { echo f; return 1; echo g; }; if f; then echo y; else echo n; fi; f | cat; echo piped; f && echo and; echo "after and"; { f; echo body; } || echo or; cmd=false; $cmd; echo no
