# samples/notebook.ipynb runs as it stands: no cell raises or warns, and what the cells print is right.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
python_needs nbclient ipykernel matplotlib torch
export HOME="$PWD" PYDEVD_DISABLE_FILE_VALIDATION=1
$PYTHON - "$ROOT/samples/notebook.ipynb" <<'END'
import re
import resource
import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": "."}}).execute()
said, pictures, warnings = {}, {}, []
for cell in notebook.cells:
    outputs = cell.get("outputs", [])
    said[cell.id] = "".join(output.text for output in outputs if output.output_type == "stream")
    pictures[cell.id] = sum("image/png" in output.get("data", {}) for output in outputs)
    warnings += [output.text for output in outputs if output.get("name") == "stderr"]
    if said[cell.id]:
        print("%s:\n%s" % (cell.id, said[cell.id]))
assert not warnings, warnings


def numbers(cell, pattern):
    return [float(number) for number in re.findall(pattern, said[cell])]


sheet, = [output.data["text/html"] for cell in notebook.cells if cell.id == "encode"
          for output in cell.outputs if output.output_type == "execute_result"]
assert sheet.count("<img") == 24, sheet[:500]
assert all(pictures[cell] == 1 for cell in ("cut", "quality", "compare", "equal", "search", "http")), pictures
assert len(numbers("train", r"(\S+) % bytes")) == 2  # the built-in models
rates = numbers("compare", r"(\S+) % bytes")
assert len(rates) == 4 and max(rates) < -20, rates
itself, = numbers("search", r"(\d+) %")
assert itself >= 95, itself
read = numbers("http", r"(\d+) bytes read")
shares = numbers("http", r"(\S+) % of the file")
assert len(read) == 3 and 0 < read[0] < read[1] < read[2] and shares[2] < 10, (read, shares)
losses = numbers("torch", r"loss (\S+)")
assert len(losses) == 8 and losses[-1] < 0.75 * losses[0], losses
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.0f s of processor time" % (used.ru_utime + used.ru_stime))
assert used.ru_utime + used.ru_stime < 120
END
