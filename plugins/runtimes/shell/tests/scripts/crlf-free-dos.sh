printf 'a\r\nb\r\n' > dos.txt; while IFS= read -r l; do l=${l%$'\r'}; echo "<$l>"; done < dos.txt
