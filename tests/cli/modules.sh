# Directories of the source: no cycle, none too full, as tests/modules.py counts them; and it can fail.
command -v python3 >/dev/null || { echo "SKIP no python3"; exit 0; }
python3 "$ROOT/tests/modules.py" >now || { cat now; exit 1; }
grep -q '^codec/bitplane ' now
# the picture in docs/architecture.md is up to date
python3 "$ROOT/tests/modules.py" --svg modules.svg >/dev/null
cmp modules.svg "$ROOT/tests/modules.svg" ||
    { echo "python3 tests/modules.py --svg tests/modules.svg updates it"; exit 1; }
# an include of a higher directory is found
mkdir -p copy/tests
cp -r "$ROOT/formats" "$ROOT/codec" "$ROOT/train" "$ROOT/cli" copy
cp "$ROOT/tests/modules.py" copy/tests
echo '#include "codec/container/encoder.h"' >>copy/codec/entropy/rans.c
if python3 copy/tests/modules.py >then; then cat then; exit 1; fi
grep -q 'a cycle of directories: .*codec/container' then
