mkdir t; echo a > t/a; tar czf t.tgz t; tar tzf t.tgz; rm -r t; tar xzf t.tgz; cat t/a; gzip -c t/a | gunzip; gzip -k t/a; ls t; zcat t/a.gz 2>/dev/null || gzip -dc t/a.gz
