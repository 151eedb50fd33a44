printf '#!/bin/bash\necho "child $1 $0"; exit 4\n' > child.sh; chmod +x child.sh
bash child.sh one; echo $?
sh child.sh two || echo "rc $?"
./child.sh three; echo $?
bash -c 'echo "c $0 $1"' name arg
export EXPORTED=yes; LOCAL=no; bash -c 'echo "${EXPORTED-unset} ${LOCAL-unset}"'
