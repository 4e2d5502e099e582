# The package for Python with every Python from 3.9 on that is installed, and those that TAPER_PYTHONS names: what needs no
# NumPy; where NumPy and Pillow are, sets of images too. Warnings that something will be removed are errors.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
for name in a b c; do
    LC_ALL=C awk -v name=$name 'BEGIN {
        printf "P6 24 16 255\n"
        for (i = 0; i < 1152; i++) printf "%c", 33 + (i * 7 + index("abc", name)) % 90
    }' >$name.ppm
done
"$TAPER" encode -q -o three.taper a.ppm b.ppm c.ppm
one='import sys; print("%s-%d.%d %s" % (sys.prefix, *sys.version_info[:2], sys.executable)) if sys.version_info > (3, 9) else 0'
for python in $PYTHON /usr/bin/python3.[0-9] /usr/bin/python3.[0-9][0-9] ${TAPER_PYTHONS:-}; do
    [ ! -x "$(command -v "$python")" ] || $python -c "$one"
done | awk '!seen[$1]++ { print $2 }' >pythons
test -s pythons
removed=error::DeprecationWarning,error::PendingDeprecationWarning
export PYTHONWARNINGS=$removed,error::ResourceWarning,"ignore:This process:DeprecationWarning" # a test forks with threads
while read -r PYTHON; do
    $PYTHON --version
    python_tests test_versions 4
    if $PYTHON -c 'import numpy, PIL' 2>/dev/null; then python_tests test_sets 19; fi
done <pythons
