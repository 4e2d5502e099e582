# make paper-retrieval's quick version: every part runs on a small set and leaves records, the page shows them, what has
# been made is not made again.
build=$(dirname "$TAPER")
[ -x "$build/bench/bench_retrieval" ] || { echo "$build/bench/bench_retrieval is missing"; exit 1; }
"$SAMPLES" small . --count 3000 --format cifar >said
mkdir -p data/cifar10
for i in 1 2 3 4 5; do # 500 images each; a record has 3,073 bytes
    dd if=cifar/train.bin of=data/cifar10/data_batch_$i.bin bs=1536500 skip=$((i - 1)) count=1 2>dd
done
cp cifar/test.bin data/cifar10/test_batch.bin
run() { QUICK=1 OUT=$PWD/out TAPER_DATA=$PWD/data PARTS=$1 sh "$ROOT/bench/retrieval/run.sh" "$build" >said 2>&1 || { cat said; exit 1; }; }
run ""
grep -q 'paper-retrieval: .*/index.html' said
for figure in fig3-time fig3-drawn fig3-found growth-nodes growth-time precision-cifar10 precision-pixels classify; do
    test -s "out/$figure.png"
    test -s "out/$figure.csv"
done
test -s out/neighbourhoods.svg
test -s out/neighbourhoods.png
grep -q 'Figure 3: time by the length of codes' out/index.html
if grep -oE '(src|href)="[^"]{0,40}' out/index.html | grep -v '="data:'; then echo "the page needs files"; exit 1; fi

# every line is JSON with all that is asked of a record, and no time is told without its recall
python3 - <<'END'
import json
for name in "scan", "recall", "query-time", "shortlist", "margins", "build", "growth", "lengths", "multi-index", "precision", "neighbourhoods", "classify":
    n = 0
    for line in open(f"out/{name}.jsonl"):
        r = json.loads(line)
        assert set(r) == {"bench", "metric", "value", "unit", "config", "commit", "machine", "command"}, r
        assert r["bench"] == "retrieval/" + name and r["machine"] and r["command"], r
        c = r["config"]
        assert {"method", "n", "bits"} <= set(c), c
        if r["metric"] == "query_median":
            assert r["value"] > 0 and 0 <= c["recall"] <= 1, r
        n += 1
    assert n > 3, name
for line in open("out/recall.jsonl"):
    r = json.loads(line)
    c = r["config"]
    assert c["recall"] >= c["recall_asked"] - 0.05, c
END

# a part again: models and codes stay as they are, the page has the rest of before
touch -r out/work/bits-64.tpm before
run build
test ! out/work/bits-64.tpm -nt before
test ! out/work/64/codes.bits -nt out/growth.jsonl
grep -q 'paper-retrieval: build' said
if grep -q 'paper-retrieval: growth' said; then echo "more was run than asked for"; exit 1; fi
grep -q 'Codes that a query looks at' out/index.html

TAPER_DATA=nowhere sh "$ROOT/bench/retrieval/run.sh" "$build" | grep -qx 'SKIP paper-retrieval: CIFAR-10 is not in nowhere/cifar10 (TAPER_DATA)'
