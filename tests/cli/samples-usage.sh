# Wrong words get the usage text and nothing is made.
"$SAMPLES" small set --count 0 || code=$?
test ! -e set
exit "$code"
