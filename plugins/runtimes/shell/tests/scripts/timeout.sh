timeout 1 echo quick; timeout 0.05 sleep 2; echo $?; timeout 1 bash -c 'exit 4'; echo $?
