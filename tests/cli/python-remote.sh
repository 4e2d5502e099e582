# The package for Python on containers at addresses: pixels, requests, and servers that misbehave.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
python_needs fsspec
python_tests test_remote 7
