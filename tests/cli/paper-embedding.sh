# make paper-embedding's quick version: cells leave records that are read again, a cell that has one is not run again,
# pretrained layers are shared, and the page shows what was run and what was not.
build=$(dirname "$TAPER")
program=$build/bench/paper_embedding
[ -x "$program" ] || { echo "$program is missing"; exit 1; }
export OUT="$PWD/out" QUICK=1 PAPER_THREADS=1 SET="epochs=2 batch=200 widths=40-30 pretrain-epochs=1"
cells="mnist-pixels-* mnist-pca-2-* mnist-lda-* mnist-dt-nca-d-1-2-* usps-dt-mcml-learned-2-split[12]-* circles-*"
CELLS=$cells sh "$ROOT/bench/paper-embedding/run.sh" "$build" >said 2>&1 || { cat said; exit 1; }
grep -q '^paper-embedding: QUICK' said
test ! -e "$OUT/work/speed.jsonl.part"
grep -q 'This is the quick version' out/index.html
grep -q 'aria-label="mnist-dt-nca-d-1-2-seed1"' out/index.html
grep -q "CELLS='usps-dt-nca-d-1-30-\*' make paper-embedding" out/index.html
grep -q '2 of 6 splits' out/index.html
test -s out/usps-dt-mcml-learned-2-split1-seed1.png
if grep -oE '(src|href)="[^"]{0,40}' out/index.html | grep -v '="data:'; then echo "the page needs files"; exit 1; fi

# every line is JSON with all that is asked of a record; a cell has one of each
python3 - <<'END'
import collections, json
count = collections.Counter()
for name in "mnist", "usps", "circles", "speed":
    for line in open(f"out/{name}.jsonl"):
        r = json.loads(line)
        assert set(r) == {"bench", "metric", "value", "unit", "config", "commit", "machine", "command"}, r
        assert r["bench"] == "embedding/" + name and r["machine"] and r["command"], r
        if name == "speed":
            continue
        c = r["config"]
        assert {"cell", "method", "dims", "seed", "labels_percent", "device", "settings"} <= set(c), c
        assert c.get("split") or name != "usps", c
        count[c["cell"], r["metric"], c.get("k")] += 1
        if r["metric"] == "test_error_percent":
            assert 0 <= c["low"] <= r["value"] <= c["high"] <= 100 and c["tested"] >= 200, r
assert set(count.values()) == {1}, count
cells = {cell for cell, metric, k in count}
assert len(cells) == 10, cells
for cell in cells:
    assert all((cell, "test_error_percent", k) in count for k in (1, 3, 5, 7)), cell
    assert ((cell, "alpha", None) in count) == ("dt-" in cell), cell
END

# one cell more: the others stay, lower layers are not learned again
cp out/mnist.jsonl before
set -- --out out --work out/work --threads 1 --quick --set "$SET"
"$program" mnist "$@" --cells 'mnist-dt-nca-d-1-2-* mnist-dt-nca-d-1-30-*' 2>said
if grep -q 'mnist-dt-nca-d-1-2-seed1' said; then echo "run again"; exit 1; fi
if grep -q 'layer [12],' said; then echo "lower layers learned again"; exit 1; fi
grep -q 'layer 3, epoch 1 of 1' said
grep -v '"cell":"mnist-dt-nca-d-1-30-seed1"' out/mnist.jsonl | cmp - before
"$program" list "$@" >listed
test "$(grep -vc 'not run' listed)" -eq 11

# by the same seed the same record; what was finished is read, not learned again
grep -v '"cell":"mnist-dt-nca-d-1-2-seed1"' out/mnist.jsonl >others
mv others out/mnist.jsonl
"$program" mnist "$@" --cells 'mnist-dt-nca-d-1-2-*' 2>said
errors() { grep '"cell":"mnist-dt-nca-d-1-2-seed1"' "$1" | grep test_error | grep -o '"value":[^,]*'; }
errors before >first
errors out/mnist.jsonl | cmp - first

# damage is not learned from
layer=$(ls out/work/mnist-*.layer | head -n 1)
printf x | dd of="$layer" bs=1 seek=100 conv=notrunc 2>dd
if "$program" mnist "$@" --cells 'mnist-dg-nca-2-*' 2>said; then echo "a damaged layer was taken"; exit 1; fi
grep -q 'is damaged: remove it' said

# without data nothing but circles is run, and that is said
unset QUICK
if TAPER_DATA=nowhere "$program" mnist --out out --work out/work --cells '*' 2>said; then grep -q '^SKIP mnist' said; else exit 1; fi
if QUICK=1 PARTS=figure9 sh "$ROOT/bench/paper-embedding/run.sh" "$build" 2>said; then exit 1; else test $? -eq 2; fi
