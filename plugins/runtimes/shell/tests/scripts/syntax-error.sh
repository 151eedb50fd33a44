echo fine
if true; then
echo x
