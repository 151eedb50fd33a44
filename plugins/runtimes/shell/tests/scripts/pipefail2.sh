set -o pipefail; echo a | false | cat; echo $?; if echo x | grep -q y; then echo y; else echo n; fi; exit 300
