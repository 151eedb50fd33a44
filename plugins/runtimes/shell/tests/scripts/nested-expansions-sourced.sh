cat > lib.sh <<'LIB'
declare -A owner=([a]=ann)
who() { local key=$1; echo "${key:+${owner[$key]}}" "$((${#owner[a]} + 1)) ${owner[${missing:-a}]}"; }
LIB
sha256sum lib.sh
source ./lib.sh
who a
cat lib.sh
bash -c '. ./lib.sh; who a'
printf '%s\n' 'a=(x y); i=1; echo "${i:+${a[i]}}"' > child.sh
bash child.sh
