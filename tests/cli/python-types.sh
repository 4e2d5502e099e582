# Of the package for Python: hints of types, in the package and as programs see them.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
needs mypy:mypy
check() { # what to check
    (cd "$ROOT/bindings/python" && mypy --cache-dir "$here/cache" "$@") >said 2>&1 || { cat said; exit 1; }
}
here=$(pwd)
check -p taper
grep -q '^Success: no issues found in [0-9][0-9] ' said
# as programs see them: each line that is wrong has the mark that says so, which is an error where the line is right
check "$ROOT/tests/python/typed_use.py"
