# classify --page: errors, confusions and examples with their neighbours, as the labels that are written say; a page
# that needs nothing but itself, right for names that are HTML.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
mkdir named
for class in set/png/*; do cp -r "$class" "named/${class##*/}"; done
mv named/bolt 'named/a <b> & "c"'
mv named/fork named/b_c
"$TAPER" train -q -w whole -k 9 -o whole.tpm named
page() { "$TAPER" classify -m whole.tpm "$@"; }
page -k 3,1 --among named --leave-one-out --page page.html -o labels.csv 2>report
grep -q '^error .* by 3 votes: ' report
page -q -k 5 --among named --leave-one-out -o five.csv
cat >check.py <<'P'
import base64, collections, csv, html, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
assert page.count("@media (prefers-color-scheme: dark)") == 1
# a name is broken between its parts, and within them when one is too long by itself
assert "<b>b_<wbr>c</b>" in page and "figcaption, .none, th, td, footer { overflow-wrap: break-word" in page
page = page.replace("<wbr>", "")
assert "http" not in page and "<script" not in page and "<link" not in page and "<b>  &" not in page
rows = list(csv.DictReader(open(sys.argv[2], encoding="utf-8")))
wrong = [r for r in rows if r["label"] != r["truth"]]
assert "%.2f %% of %d images get a wrong label" % (100 * len(wrong) / len(rows), len(rows)) in page
assert page.count("<div class=\"strip\">") == page.count("class=\"strip\"")

# the matrix
cells = re.findall(r"<td( style=[^>]*)?>([^<]*)</td>", page.split("class=\"heat\"")[1].split("</table>")[0])
classes = sorted({r["truth"] for r in rows})
count = collections.Counter((r["truth"], r["label"]) for r in rows)
assert len(cells) == len(classes) ** 2
for i, (shade, text) in enumerate(cells):
    pair = classes[i // len(classes)], classes[i % len(classes)]
    assert int(text or 0) == count[pair] and bool(shade) == (pair[0] != pair[1] and count[pair] > 0)

# the most frequent confusions, with as many examples as there are, up to four
pairs = sorted((-n, p) for p, n in count.items() if p[0] != p[1])
parts = page.split("<h2>Labelled correctly")
sections = re.split("<h3>", parts[0])[1:]
assert len(sections) == min(12, len(pairs)) > 1
by_name = {r["name"]: r for r in rows}
def strips(text):
    return [re.findall(r'<figure( class="m")? title="([^"]*)"><img alt="([^"]*)" src="data:image/png;base64,([^"]*)">'
                       r"<figcaption><b>([^<]*)</b><br>([^<]*)</figcaption></figure>", s)
            for s in text.split('<div class="strip">')[1:]]
uri = {}
def check(strip, truth, label):
    assert len(strip) == 6
    own = by_name[html.unescape(strip[0][1])]
    assert (own["truth"], own["label"]) == (truth, label)
    assert html.unescape(strip[0][5]) == "labelled %s, %s of %s votes" % (label, own["votes"], own["of"])
    assert html.unescape(strip[1][1]) == own["nearest"], (strip[1][1], own)
    assert abs(float(strip[1][5]) / float(own["distance"]) - 1) < 0.01
    assert [float(f[5]) for f in strip[1:]] == sorted(float(f[5]) for f in strip[1:])
    for frame, name, alt, png, caption, _ in strip:
        other = by_name[html.unescape(name)]
        assert html.unescape(caption) == other["truth"] and alt == name
        assert bool(frame) == (other["truth"] != truth)
        assert uri.setdefault(name, png) == png
        assert base64.b64decode(png)[:8] == b"\x89PNG\r\n\x1a\n"
for (n, (truth, label)), section in zip(pairs, sections):
    title = html.unescape(section.split("</h3>")[0])
    got = re.fullmatch(r"(.*) taken for (.*): (\d+) times?", title)
    assert int(got[3]) == -n == -pairs[sections.index(section)][0], title
    assert count[got[1], got[2]] == -n
    shown = strips(section)
    assert len(shown) == min(4, -n)
    votes = [int(by_name[html.unescape(s[0][1])]["votes"]) for s in shown]
    assert votes == sorted(votes, reverse=True)
    for s in shown:
        check(s, got[1], got[2])
right = strips(parts[1])
assert 0 < len(right) == len({r["truth"] for r in rows if r["label"] == r["truth"]})
for s in right:
    truth = by_name[html.unescape(s[0][1])]["truth"]
    check(s, truth, truth)
assert len(set(uri.values())) == len(uri)
name, png = next(iter(sorted(uri.items())))
open("picture.png", "wb").write(base64.b64decode(png))
print(html.unescape(name))
P
python3 check.py page.html labels.csv >name
"$TAPER" classify -q --among named -k 1 picture.png | grep -qF ",$(sed 's/.*"c".*/"&/; s/"c"/""c""/; s/^"\(.*png\)$/"\1"/' name),0" # its pixels

# fewer votes and neighbours than are shown, inputs beside labelled images, of a container, with JSON and to standard output
mkdir few new
for class in arrow cross ring; do
    mkdir few/$class new/$class
    cp set/png/$class/0001.png few/$class
    cp set/png/$class/000[2-9].png new/$class
done
"$TAPER" classify -q -k 1 --among few --page few.html -o few.csv new
grep -q 'of their 1 nearest of 3 labelled images' few.html
test "$(grep -c '<figure' few.html)" -eq "$(($(grep -c '<div class="strip"' few.html) * 4))"
"$TAPER" encode -q -m whole.tpm -o few.taper few
page -q -k 1 --among few.taper --page - -o few-2.csv new >few-2.html
grep -q '<h2>Confusions' few-2.html
page -q -k 1 --among few.taper --json --page few-3.html new >few.json
cmp few-2.html few-3.html
test "$(grep -c '"kind":"label"' few.json)" -eq 24
cp few/ring/0001.png new/ring
cp -r few same
"$TAPER" classify -q -k 1 --among few --page same.html -o same.csv same # no errors
if grep -q '<h2>Confusions' same.html; then exit 1; fi
grep -q '<h2>Labelled correctly' same.html
awk 'BEGIN { for (i = 0; i < 120; i++) print i % 24 }' >many # classes of which there is no matrix
"$TAPER" classify -q --among set/idx/images.idx --among-labels many --leave-one-out --page many.html -o many.csv
if grep -q 'class="heat"' many.html; then exit 1; fi
test "$(grep -c '^<h3>' many.html)" -eq 12

# what cannot be
expect 2 'taper classify: --page shows errors, and the inputs have no labels of their own: *' \
    page --among named --page none.html picture.png
expect 2 '*--page shows errors, which need true labels*' page --unlabelled --page none.html named
expect 2 '*--output and --page are the same*' page -f --among named --leave-one-out -o x --page x
expect 2 '*--page and the labels both go to standard output*' page --among named --leave-one-out --page -
expect 5 '*page.html: *exists*' page --among named --leave-one-out --page page.html
expect 2 '*arrow/0001.png: is an input too*' page -f --among named --leave-one-out --page named/arrow/0001.png
cp whole.tpm own.tpm
expect 2 '*own.tpm: is an input too*' "$TAPER" classify -f -m own.tpm --among named --leave-one-out --page own.tpm
cmp own.tpm whole.tpm
if [ -c /dev/full ]; then
    expect 5 '*/dev/full: *No space left*' page --among named --leave-one-out --page /dev/full -o none.csv
    expect 5 '*/dev/full: *No space left*' page --among named --leave-one-out --page none.html -o /dev/full
fi
test ! -e none.html
nothing_left
