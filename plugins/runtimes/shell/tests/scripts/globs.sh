mkdir -p g/x/y; touch g/a.txt g/b.txt g/c.md g/x/d.txt g/x/y/e.txt g/.hidden
echo g/*.txt
echo g/[ab].*
echo g/*.none
shopt -s nullglob; echo g/*.none end
shopt -s globstar; printf '%s\n' g/**/*.txt
shopt -s extglob; echo g/!(a).txt g/@(a|c).*
shopt -s dotglob; echo g/*
