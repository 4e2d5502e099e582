# python_helpers.sh -- read by tests/cli/python-*.sh: PYTHON, one with NumPy and Pillow, runs the package of this checkout on
# the library that is tested. python_needs MODULE...: skip the test where one is missing.
for PYTHON in python3 /usr/bin/python3 none; do
    $PYTHON -c 'import numpy; from PIL import Image' 2>/dev/null && break
done
[ "$PYTHON" != none ] || { echo "SKIP no python3 with NumPy and Pillow"; exit 0; }
export PYTHONPATH="$ROOT/bindings/python" PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=error::ResourceWarning
export TAPER_LIBRARY="$(dirname "$TAPER")/libtaper.so" TAPER_PROGRAM="$TAPER" ROOT TAPER
python_needs() {
    for module; do
        $PYTHON -c "import $module" 2>/dev/null || { echo "SKIP no $module for $PYTHON"; exit 0; }
    done
}
# unittest ends with 0 also when it ran nothing
python_tests() { # file, least number of tests
    $PYTHON "$ROOT/tests/python/$1.py" 2>said || { cat said; exit 1; }
    cat said
    [ "$(sed -n 's/^Ran \([0-9]*\) test.*/\1/p' said)" -ge "$2" ]
    not grep -q skipped said
}
