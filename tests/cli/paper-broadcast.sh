# make paper-broadcast's quick version: receivers of many bandwidths by arithmetic and over TCP agree, what the records say
# can be true, the page works alone, and a second run says the same.
build=$(dirname "$TAPER")
[ -x "$build/bench/paper_broadcast" ] || { echo "$build/bench/paper_broadcast is missing"; exit 1; }
"$SAMPLES" scenes scenes --count 1 >said
if ! "$build/bench/paper_broadcast" rungs webp 40 scenes/*.png >said 2>&1; then
    echo "SKIP: $(tail -n 1 said)"
    exit 0
fi
run() { QUICK=1 OUT=$PWD/out PARTS=$1 sh "$ROOT/bench/paper-broadcast/run.sh" "$build" >said 2>&1 || { cat said; exit 1; }; }
run ""
grep -q 'paper-broadcast: .*/index.html' said
for figure in by-bandwidth by-bytes populations; do
    test -s "out/$figure.csv"
    if command -v gnuplot >/dev/null; then test -s "out/$figure.png"; fi
done
for words in 'Expected PSNR' 'What four receivers see' 'Over TCP' 'a ladder designed on each picture'; do
    grep -q "$words" out/index.html || { echo "the page lacks: $words"; exit 1; }
done
if grep -oE '(src|href)="[^"]{0,40}' out/index.html | grep -v '="data:'; then echo "the page needs files"; exit 1; fi

python3 - <<'END'
import json

def read(part):
    for line in open(f"out/{part}.jsonl"):
        r = json.loads(line)
        assert set(r) == {"bench", "metric", "value", "unit", "config", "commit", "machine", "command"}, r
        yield r["metric"], r["value"], r["config"]

found = {}
for part in "simulate", "sweep", "rivals", "set":
    for metric, value, c in read(part):
        key = tuple(str(c.get(k)) for k in ("codec", "population", "accounting", "ladder", "line", "pictures"))
        if metric != "rung":
            assert (metric, c.get("who")) not in found.setdefault(key, {}), (part, c)
            found[key][metric, c.get("who")] = value
assert len(found) == 2 * 4 * 3 + 2 * 7 + 2 * 4 + 1 + 2 * 2, len(found)
for key, f in found.items():
    ladder, container = f["psnr", "ladder"], f["psnr", "container"]
    assert 10 < ladder < 60 and 10 < container < 60, (key, f)
    assert abs(container - ladder - f["gain", None]) < 0.002, (key, f)
    assert container > ladder, (key, f)
    assert 1 <= f.get(("files", None), 1) <= 7, (key, f)

def of(codec, accounting, ladder="tuned"):
    return found[codec, "log-normal", accounting, ladder, "None", "None"]
for codec in "jpeg", "webp":
    # a limit on the bytes sent, or files that all come down one line, leave a ladder less to choose from
    assert of(codec, "links")["psnr", "ladder"] >= of(codec, "transmission")["psnr", "ladder"], codec
    assert of(codec, "links")["bytes_sent", None] >= of(codec, "multicast")["bytes_sent", None], codec
    # one that is designed on the picture itself is no worse, but for how receivers were drawn
    assert of(codec, "links", "own")["psnr", "ladder"] >= of(codec, "links")["psnr", "ladder"] - 0.1, codec

sockets = {}
for metric, value, c in read("sockets"):
    sockets[metric, c["codec"], c["who"]] = value
for codec in "jpeg", "webp":
    for who in "ladder", "container":
        def socket(metric):
            return sockets["sockets_" + metric, codec, who]
        assert socket("bytes_missing") == 0 and 0 <= socket("bytes_late") <= socket("bytes") > 1000, (codec, who)
        # files are shown as they were measured, prefixes as interpolated between measured cuts
        assert socket("difference_largest") < (0.001 if who == "ladder" else 0.5), (codec, who)
    assert sockets["sockets_psnr", codec, "container"] > sockets["sockets_psnr", codec, "ladder"], codec
END

# again, without what was kept of the ladders
cp out/simulate.jsonl before
rm out/work/ladder-*
run simulate
cmp before out/simulate.jsonl

TAPER_DATA=nowhere sh "$ROOT/bench/paper-broadcast/run.sh" "$build" 2>&1 | grep -q 'SKIP: no folder nowhere/kodak'
