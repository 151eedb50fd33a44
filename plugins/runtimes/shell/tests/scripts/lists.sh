true && echo a || echo b; false && echo a || echo b; ! false && echo neg; { false || true; } && echo grp; if ! grep -q x <<< y; then echo nox; fi
