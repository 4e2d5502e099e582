# `pip install bindings/python` into a clean environment, without a network: the package has its library and its program.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
$PYTHON -c 'import venv, ensurepip' 2>/dev/null || { echo "SKIP no venv for $PYTHON"; exit 0; }
unset PYTHONPATH TAPER_LIBRARY TAPER_PROGRAM
$PYTHON -m venv clean
TAPER_BUILD=$(dirname "$TAPER") clean/bin/pip install -q --no-index --disable-pip-version-check "$ROOT/bindings/python"
clean/bin/pip show taper | grep -q '^Version: '"$("$TAPER" --version | awk '{ print $2 }')"
test -e clean/lib/python3*/site-packages/taper/py.typed
clean/bin/python - <<'END'
import time
begun = time.perf_counter()
import taper
taper.open
print("import: %.0f ms" % ((time.perf_counter() - begun) * 1000))
try:
    taper.encode([[[0]]])
    raise SystemExit("there is NumPy in a clean environment")
except ImportError as error:
    assert "numpy" in str(error), error
END
# the wheel is the same each time, without debug information; where there is no `strip` it is larger, and as good
build_wheel() { TAPER_BUILD=$(dirname "$TAPER") $PYTHON "$ROOT/bindings/python/build_wheel_of_taper.py" "$1"; }
for folder in one two; do build_wheel $folder; done >paths
STRIP=none build_wheel whole >>paths
test "$(sort -u paths | wc -l)" -eq 3
cmp one/*.whl two/*.whl
$PYTHON - "$(command -v strip)" <<'END'
import glob, sys, zipfile
for folder, is_stripped in (("one", bool(sys.argv[1])), ("whole", False)):
    with zipfile.ZipFile(glob.glob(folder + "/*.whl")[0]) as wheel:
        for name in ("taper/libtaper.so.1", "taper/taper-program"):
            assert (b".debug_info" in wheel.read(name)) != is_stripped, (folder, name)
        print("%s: %.1f MB" % (folder, sum(entry.compress_size for entry in wheel.infolist()) / 1e6))
END
clean/bin/pip install -q --no-index --disable-pip-version-check --force-reinstall whole/*.whl
clean/bin/python -c 'import taper; print(taper.open)'
# NumPy of the system
$PYTHON -m venv --system-site-packages seen
TAPER_BUILD=$(dirname "$TAPER") seen/bin/pip install -q --no-index --disable-pip-version-check "$ROOT/bindings/python"
seen/bin/python - <<'END'
import numpy as np, os, taper, taper.programs
assert taper.__file__.startswith(os.getcwd()), taper.__file__
images = [np.full((20, 30, 3), k * 20, np.uint8) for k in range(5)]
assert all((a == b).all() for a, b in zip(taper.open(taper.encode(images, lossless=True)), images))
assert taper.programs.program().startswith(os.getcwd())
END
