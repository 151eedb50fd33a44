mkdir d; printf abc > d/a; printf '%05000d' 0 > d/big; touch -d @1700000000 d/a; touch -d @1600000000 d/big; mkdir d/sub; touch d/.dot; ln -s a d/link
export TZ=UTC
ls -l d | awk 'NR>1 && $1 !~ /^d/ && $1 !~ /^l/ {print $1, $2, $5, $6, $7, $8, $9}'
ls -l --time-style=+%s d | awk '$7=="a" || $7=="big" {print $1,$5,$6,$7}'
ls -ltr d | awk '{print $9}' | grep . | head -2
ls -S d | head -1; ls -r d; ls -a d; ls -A d; ls -lh d | awk '$9=="big"{print $5}'; ls -p d; ls -F d; ls -l d/link | sed 's/.*d\/link/link/'; ls -d d d/*; ls -R d; ls -1 d | wc -l; ls d/a d nofile; echo $?
ls -m d; ls --group-directories-first d; ls -X d; touch d/v9 d/v10; ls -v d; ls -la d | tail -n +2 | awk '{print $9}'; cd d; ls; ls -- a; ls -Q a
