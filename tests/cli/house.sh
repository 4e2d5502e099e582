# The rooms: no circle of them, none too full, as tests/house.py counts them; and it can tell.
command -v python3 >/dev/null || { echo "SKIP no python3"; exit 0; }
python3 "$ROOT/tests/house.py" >now || { cat now; exit 1; }
grep -q '^codec/bitplane ' now
# the picture in CONTRIBUTING is of today's house
python3 "$ROOT/tests/house.py" --svg house.svg >/dev/null
cmp house.svg "$ROOT/tests/house.svg" ||
    { echo "python3 tests/house.py --svg tests/house.svg draws it anew"; exit 1; }
# a room that uses one above it is seen
mkdir -p copy/tests
cp -r "$ROOT/formats" "$ROOT/codec" "$ROOT/train" "$ROOT/cli" copy
cp "$ROOT/tests/house.py" copy/tests
echo '#include "codec/container/assemble.h"' >>copy/codec/entropy/rans.c
if python3 copy/tests/house.py >then; then cat then; exit 1; fi
grep -q 'a circle of rooms: .*codec/container' then
