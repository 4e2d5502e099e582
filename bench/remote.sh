#!/bin/sh
# remote.sh -- requests and bytes that commands take of containers behind URLs, as JSON lines.
#
#   sh bench/remote.sh TAPER PICTURES     nginx on the loopback serves containers of the pictures, and
#                                         of 1,000,000 drawn images of 8 x 8 pixels
set -eu
taper=$(realpath "$1") pictures=$(realpath "$2")
ROOT=$(cd "$(dirname "$0")/.." && pwd)
commit=$(git -C "$ROOT" rev-parse --short=8 HEAD)
work=$(mktemp -d)
cd "$work"
. "$ROOT/tests/cli_helpers.sh"
needs nginx:nginx-light python3:python3
mkdir www
python3 - <<'END'
import random, struct
random.seed(1)
with open("k-images-idx3-ubyte", "wb") as to:
    to.write(struct.pack(">IIII", 0x803, 1000, 8, 8))
    for _ in range(1000):
        a, b, d = random.randrange(40, 200), random.randrange(-12, 13), random.randrange(-12, 13)
        to.write(bytes(max(0, min(255, a + b * x + d * y)) for y in range(8) for x in range(8)))
END
for layout in set gallery image; do
    "$taper" encode -q --layout $layout -o www/photos-$layout.taper "$pictures"
    "$taper" encode -q --layout $layout --bytes-per-image 40 -o x.taper k-images-idx3-ubyte
    for _ in 1 2 3; do
        "$taper" merge -q -f --max-memory 8G -o y.taper x.taper x.taper x.taper x.taper x.taper x.taper x.taper \
            x.taper x.taper x.taper
        mv y.taper x.taper
    done
    mv x.taper www/million-$layout.taper
done
serve_www
trap 'kill "$(cat nginx/pid)"; rm -r "$work"' EXIT

measure() { # set, layout, words of the command; FILE stands for the URL
    set=$1 layout=$2
    shift 2
    rm -rf out out.taper out.png
    "$taper" "$@" -v "$url/$set-$layout.taper" >/dev/null 2>said || { cat said >&2; exit 1; }
    said=$(sed -n 's/.*taper: \([0-9]*\) requests*, \([0-9]*\) bytes$/\1 \2/p' said)
    for metric in requests bytes; do
        [ $metric = requests ] && value=${said%% *} || value=${said##* }
        printf '{"bench":"remote","metric":"%s","value":%s,"unit":"%s","config":{"set":"%s","layout":"%s","command":"%s","file_bytes":%s},"machine":"loopback","commit":"%s"}\n' \
            $metric "$value" $metric "$set" $layout "$*" "$(wc -c <www/"$set-$layout.taper")" "$commit"
    done
}
for layout in set gallery image; do
    measure photos $layout info
    measure photos $layout decode -i 3 -o out.png
    measure photos $layout decode -o out
    measure photos $layout decode --bytes 64K -o out
    measure photos $layout fetch -i 3,7-9 -o out.taper
    measure million $layout decode -i 765433 -o out.png
    measure million $layout info
done
