unset q
echo "${q:?must be set}"
echo unreachable
