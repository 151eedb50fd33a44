name=World
cat <<E1
Hello $name $((1+1)) $(echo sub)
E1
cat <<'E2'
No $expansion
E2
cat <<-E3
	tabbed
	  more
	E3
