# The package for Python against the header (types) and against what the program makes of the same files (sets, batches).
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
python_tests test_types 4
python_tests test_sets 20
