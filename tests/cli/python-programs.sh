# Of the package for Python: training, comparison, Pillow; the verbs of the program, with arrays.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
python_tests test_programs 6
