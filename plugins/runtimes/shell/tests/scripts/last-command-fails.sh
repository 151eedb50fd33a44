echo a
false
