mkdir d; printf abc > d/a; touch -d @1700000000 d/a d; mkdir d/sub; chmod 644 d/a; ls -F d; ls -R d; ls -t d; ls -A d; ls d/*; ls -1 d | wc -l
