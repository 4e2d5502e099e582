# Of the package for Python: data sets of PyTorch, with workers that are forked and spawned.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
python_needs torch
python_tests test_torch 10
