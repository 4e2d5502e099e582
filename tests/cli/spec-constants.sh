# SPEC.md's constants, tables and examples are those of the C sources and of the teaching decoder.
command -v python3 >/dev/null || { echo "SKIP no python3 here"; exit 0; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || { echo "SKIP python3 is too old"; exit 0; }
python3 "$ROOT/tests/spec_examples.py" "$ROOT" .
