for x in apple banana cherry 42 ""; do
case "$x" in
  a*) echo fruit-a ;;
  banana|cherry) echo fruit ;;
  [0-9]*) echo num ;;
  "") echo empty ;;
  *) echo other ;;
esac
done
case a in a) echo 1 ;& b) echo 2 ;;& c) echo 3;; *) echo 4;; esac
