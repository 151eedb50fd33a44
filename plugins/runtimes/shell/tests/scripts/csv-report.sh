cat > data.csv <<'C'
id,name,score
1,ann,90
2,bob,85
3,cid,70
C
total=0; n=0
{ read -r header; while IFS=, read -r id name score; do total=$((total+score)); n=$((n+1)); printf '%s:%s\n' "$name" "$score"; done; } < data.csv
echo "avg $((total/n))"; tail -n +2 data.csv | sort -t, -k3 -rn | head -1 | cut -d, -f2; awk -F, 'NR>1{s+=$3} END{printf "%.2f\n", s/(NR-1)}' data.csv; column -s, -t data.csv
