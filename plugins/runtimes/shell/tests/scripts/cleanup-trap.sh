tmp=$(mktemp -d); cleanup() { rm -rf "$tmp"; echo cleaned; }; trap cleanup EXIT INT TERM
echo data > "$tmp/f"; cat "$tmp/f"; false || true
