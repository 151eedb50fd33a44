mkdir -p d/e; touch d/a.txt d/b.md d/e/c.txt; echo data > d/e/c.txt
find d | sort; find d -name '*.txt' | sort; find d -type d | sort; find d -maxdepth 1 -type f | sort; find d -name '*.txt' -exec basename {} \; | sort; find d -type f -size +0 ; find d -not -name '*.txt' -type f; find d -name '*.txt' -print0 | sort -z | xargs -0 -n1 echo; find d -empty | sort; find d -type f -name 'a*' -delete; ls d; find nofile 2>/dev/null; echo $?
find d -type f -printf '%f %s\n' | sort; find d -path '*/e/*'; find d \( -name '*.md' -o -name 'c*' \) | sort; find d -type f -exec cat {} +
