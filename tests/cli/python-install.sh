# `pip install bindings/python` into a clean environment, without a network: the package has its library and its program.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
$PYTHON -c 'import venv, ensurepip' 2>/dev/null || { echo "SKIP no venv for $PYTHON"; exit 0; }
unset PYTHONPATH TAPER_LIBRARY TAPER_PROGRAM
$PYTHON -m venv clean
TAPER_BUILD=$(dirname "$TAPER") clean/bin/pip install -q --no-index --disable-pip-version-check "$ROOT/bindings/python"
clean/bin/pip show taper | grep -q '^Version: '"$("$TAPER" --version | awk '{ print $2 }')"
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
