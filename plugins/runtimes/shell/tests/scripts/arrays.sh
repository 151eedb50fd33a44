a=(one two "three four")
a+=(five)
echo "${#a[@]} ${a[2]} ${a[-1]}"
for x in "${a[@]}"; do echo "<$x>"; done
echo "${a[@]:1:2}" "${!a[@]}"
unset 'a[1]'; echo "${!a[@]}"
printf '%s\n' "${a[@]/o/0}"
b=("${a[@]}"); echo "${b[*]}"
IFS=,; echo "${a[*]}"
