cat nofile; cat /; cd nofile; rm nofile; ls nofile; echo x > nodir/file; source nofile.sh; rmdir nofile; touch nodir/x; ./nofile; . 
