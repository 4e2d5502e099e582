# Words that cannot be written are a failure: /dev/full refuses every byte.
test -c /dev/full || { echo "SKIP no /dev/full here"; exit 0; }
"$TAPER" --help >/dev/full
