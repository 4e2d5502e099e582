# Encoding and decoding take as many instructions as tests/instruction_counts.txt says, within 3 %. The table holds for one
# compiler with its options; where the program was built otherwise, this test is skipped.
if grep -q __asan_init "$TAPER"; then
    echo "SKIP sanitizers add instructions of their own"
    exit 0
fi
command -v python3 >/dev/null || { echo "SKIP no python3"; exit 0; }
python3 "$ROOT/tests/instruction_counts.py" "$TAPER"
