cat <<EOF | tr a-z A-Z
piped $((1+2)) \$notvar `echo bt`
EOF
cat > out.txt <<'X' && cat out.txt
raw $x `y` \n
X
f() { cat <<-Z
	indented $1
	Z
}; f arg; while read -r a b; do echo "$b $a"; done <<L
1 2
3 4
L
cat <<A; cat <<B
first
A
second
B
x=$(cat <<'IN'
in subst 'quote' "dq"
IN
); echo "$x"; bash <<'S'
echo "from stdin script $((2+2))"
S
cat <<"Q"
$quoted
Q
