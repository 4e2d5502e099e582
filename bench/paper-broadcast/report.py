"""report.py -- the table on standard error, the plots and the page of a broadcast, from its records and curves."""
import json
import os
import subprocess
import sys

import ladder
import population
from offers import stem

TITLES = {"jpeg": "JPEG", "webp": "WebP"}
SHARES = (0.05, 0.25, 0.5, 0.75)
POINTS = 160
ACCOUNTING_WORDS = {
    "multicast": "multicast, equal total bytes sent",
    "links": "individual links, equal storage",
    "transmission": "one transmission, its first b bytes",
}


def read(out):
    """All records of a folder, of all parts that were run."""
    records = []
    for name in ("simulate", "sweep", "rivals", "set", "sockets"):
        path = os.path.join(out, name + ".jsonl")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as source:
                records += [json.loads(line) for line in source]
    return records


def value(records, metric, **config):
    for r in records:
        if r["metric"] == metric and all(r["config"].get(k) == v for k, v in config.items()):
            return r["value"]
    return None


def rows(records):
    """The main table: population, accounting, then ladder, container, gain of each codec."""
    for name in population.POPULATIONS:
        for accounting in ACCOUNTING_WORDS:
            cells = []
            for codec in TITLES:
                at = {"population": name, "accounting": accounting, "codec": codec, "ladder": "tuned",
                      "receivers": records[0]["config"]["receivers"]}
                one = value(records, "psnr", who="ladder", **at), value(records, "psnr", who="container", **at)
                cells += ["%.2f" % one[0], "%.2f" % one[1], "%+.2f" % (one[1] - one[0])]
            yield [name, ACCOUNTING_WORDS[accounting]] + cells


class Report:
    def __init__(self, broadcast, a):
        self.b, self.a = broadcast, a
        self.records, self.lines = read(a.out), []
        self.program = broadcast.codecs.program

    def put(self, *columns):
        self.lines.append("\t".join(str(c) for c in columns))

    def plot(self, name, title, x, y, logs, lines):
        text = "".join("%s\t%.8g\t%.8g\n" % (series, px, py) for series, points in lines for px, py in points)
        subprocess.run([self.program, "plot", name, title, x, y, str(logs), "--out", self.a.out], input=text, text=True,
                       check=True)

    def kbits(self, size):
        return size * population.BITS / 1000 / self.b.factor

    def by_bandwidth(self):
        """What a receiver sees by its bandwidth, mean over the pictures."""
        b, of = self.b, self.b.population("log-normal")
        low, high = of.at(0.005), of.at(0.995)
        sizes = [low * (high / low) ** (i / (POINTS - 1)) for i in range(POINTS)]
        curves = b.codecs.curves(b.test)
        choices = {c: b.ladder(c, "multicast", "log-normal") for c in TITLES}
        tables = {c: b.codecs.tables(c, b.test) for c in TITLES}
        lines = [("container", [(self.kbits(s), sum(
            c.seen(min(s, ladder.total(t, choices["jpeg"]))) for c, t in zip(curves, tables["jpeg"])) / len(curves))
            for s in sizes])]
        for codec, title in TITLES.items():
            steps = [ladder.steps(t, choices[codec], "multicast") for t in tables[codec]]
            lines.append(("seven %s files" % title,
                          [(self.kbits(s), sum(ladder.seen(step, s) for step in steps) / len(steps)) for s in sizes]))
        self.plot("by-bandwidth", "What a receiver sees", "bandwidth, kbit/s", "PSNR, dB", 1, lines)

    def by_bytes(self):
        lines = []
        for codec, title in TITLES.items():
            for who in ("container", "ladder"):
                points = sorted((value(self.records, "bytes_sent", **c), r["value"]) for r, c in (
                    (r, {k: v for k, v in r["config"].items() if k != "who"}) for r in self.records
                    if r["metric"] == "psnr" and r["config"].get("line") and r["config"]["codec"] == codec
                    and r["config"]["who"] == who))
                name = "container (for %s)" % title if who == "container" else "%s ladder" % title
                lines.append((name, [(x / 1000, y) for x, y in points]))
        if lines[0][1]:
            self.plot("by-bytes", "Multicast", "kB sent for a picture, all files", "expected PSNR, dB", 1, lines)

    def populations(self):
        lines = []
        for name in population.POPULATIONS:
            of = self.b.population(name)
            lines.append((name, [(self.kbits(of.at(i / 200)), i / 2) for i in range(1, 200)]))
        self.plot("populations", "Receivers", "bandwidth, kbit/s", "% of receivers below", 1, lines)

    def pictures(self):
        b, of = self.b, self.b.population("log-normal")
        i = min(22, len(b.test) - 1)
        image, name = b.test[i], stem(b.test[i])
        table, choices = b.codecs.table("jpeg", image), b.ladder("jpeg", "multicast", "log-normal")
        self.put("heading", "What four receivers see")
        self.put("text", "The middle of %s, for receivers that are faster than 5, 25, 50 and 75 %% of all; multicast, "
                 "equal total bytes sent. Left the container, right the best JPEG file that fits." % name)
        for share in SHARES:
            budget = int(of.at(share))
            path = os.path.join(self.a.work, "seen-%g" % share)
            with open(b.codecs.container([image], name), "rb") as source, open(path, "wb") as to:
                to.write(source.read()[:min(budget, ladder.total(table, choices))])
            self.put("label", "%.0f kbit/s" % self.kbits(budget))
            psnr = b.codecs.show("taper", 1, image, [path])[0]
            self.put("picture", "taper", 1, image, path, "container, %d bytes" % os.path.getsize(path),
                     "%.2f dB" % psnr)
            fit = [c for c in choices if table[c][0] <= budget]
            if fit:
                best = max(fit, key=lambda c: table[c][1])
                self.put("picture", "jpeg", best[0], image, b.codecs.file("jpeg", best, image),
                         "JPEG, %d bytes" % table[best][0], "%.2f dB" % table[best][1])
            else:
                empty = os.path.join(self.a.work, "nothing")
                open(empty, "wb").close()
                self.put("picture", "jpeg", 1, image, empty, "JPEG: nothing", "%.2f dB" % table[None][1])
            self.put("end")

    def table_of_sockets(self):
        found = [r for r in self.records if r["metric"] == "sockets_psnr"]
        if not found:
            return
        c = found[0]["config"]
        self.put("heading", "Over TCP")
        self.put("text", "%d receivers on loopback, a token bucket each, %g s for a picture; the same receivers by "
                 "arithmetic. Difference: PSNR decoded from the bytes that came, less that foreseen."
                 % (c["receivers"], c["seconds"]))
        self.put("table", 2, "ladder of", "receivers read", "PSNR, dB", "bytes", "missing", "late",
                 "difference, mean, dB", "largest, dB")
        for r in found:
            of = {k: r["config"][k] for k in ("codec", "who")}
            get = [value(self.records, "sockets_" + m, **of) for m in (
                "bytes", "bytes_missing", "bytes_late", "difference_mean", "difference_largest")]
            self.put("row", TITLES[of["codec"]], "the best file" if of["who"] == "ladder" else "a container's prefix",
                     "%.2f" % r["value"], *("%d" % g for g in get[:3]), *("%.3f" % g for g in get[3:]))
        self.put("end")

    def main_table(self):
        self.put("heading", "Expected PSNR")
        self.put("table", 2, "receivers", "accounting", "JPEG ladder", "container", "gain", "WebP ladder", "container",
                 "gain")
        for row in rows(self.records):
            self.put("row", *row)
        self.put("end")
        for text in (
                "Multicast: the sender sends all seven files at once, together at most what the receiver sees that is "
                "faster than 95 % of all; the container has exactly as many bytes as the files of that picture together.",
                "Individual links: each receiver has a connection of its own, storage is equal: the container is cut to "
                "the sum of the ladder's files, which has no limit.",
                "One transmission: the paper's sentence, a receiver gets the first b bytes; the files follow each other, "
                "smallest first.",
                "Bytes are whole files. The model that decodes containers is part of the program and is not counted."):
            self.put("note", text)
        for name, of in population.POPULATIONS.items():
            self.put("note", "%s: %s, for a picture of 768x512 a second." % (name, of.words))

    def others(self):
        found = [r for r in self.records if r["metric"] == "gain" and (
            r["config"].get("ladder") != "tuned" or r["config"].get("pictures"))]
        if not found:
            return
        self.put("heading", "Other ways to do it")
        self.put("table", 4, "rival", "receivers", "accounting", "pictures", "rival, dB", "container, dB", "gain, dB")
        for r in found:
            c = r["config"]
            of = {k: c.get(k) for k in ("codec", "population", "accounting", "ladder", "pictures")}
            if c.get("pictures"):
                rival = "%s, seven archives" % TITLES[c["codec"]]
            elif c["ladder"] == "own":
                rival = "%s, a ladder designed on each picture" % TITLES[c["codec"]]
            else:
                rival = "%s of quality %d, one file that is cut" % (c["codec"], c["quality"])
            both = [value(self.records, "psnr", who=w, **of) for w in ("ladder", "container")]
            self.put("row", rival, c["population"], ACCOUNTING_WORDS[c["accounting"]], c.get("pictures") or "one at a time",
                     "%.2f" % both[0], "%.2f" % both[1], "%+.2f" % r["value"])
        self.put("end")

    def write(self):
        quick = self.a.quick
        self.by_bandwidth()
        self.by_bytes()
        self.populations()
        self.put("title", "A broadcast to receivers of many bandwidths",
                 "Section 6 of Rippel, Gelbart and Adams, Learning ordered representations with nested dropout (ICML "
                 "2014), with files and sockets: one container, of which each receiver reads the prefix that its line "
                 "allows, against ladders of seven files.")
        if quick:
            self.put("text", "This is the quick version on a few generated pictures. Its figures say nothing about the "
                     "codecs.")
        self.main_table()
        self.put("plot", "by-bandwidth", "PSNR by bandwidth of a container and two ladders")
        self.put("plot", "by-bytes", "expected PSNR by bytes sent")
        self.put("plot", "populations", "share of receivers by bandwidth")
        self.pictures()
        self.others()
        self.table_of_sockets()
        self.put("footer", "%d pictures; ladders designed on %d others. Made by make paper-broadcast."
                 % (len(self.b.test), len(self.b.tune)))
        subprocess.run([self.program, "page", "--out", self.a.out], input="\n".join(self.lines) + "\n", text=True,
                       check=True)
        for row in rows(self.records):
            print("%-11s %-38s JPEG %6s %6s %6s  WebP %6s %6s %6s" % tuple(row), file=sys.stderr)


def write(broadcast, a):
    Report(broadcast, a).write()
