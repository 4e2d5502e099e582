"""paper_broadcast.py -- the broadcast of section 6 of the nested-dropout paper. run.sh calls it, and says what it costs.

    python3 bench/paper-broadcast/paper_broadcast.py BUILD OUT WORK TEST TUNE [--quick] [--parts PART,PART]

TEST and TUNE are folders of pictures. Ladders are designed on TUNE; what receivers see is told of TEST. OUT gets the
records (broadcast.jsonl), the plots and index.html. Parts: simulate, sweep, rivals, set, sockets.
"""
import argparse
import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import ladder
import population
import record
import report
from offers import Codecs
from over_tcp import OverTcp

CODECS = ("jpeg", "webp")
ACCOUNTINGS = ("multicast", "links", "transmission")
MAIN = "log-normal"
SEED = 1
PIXELS = 768 * 512     # of the pictures for which the bandwidths are told
LINE = 0.95            # in multicast the sender sends what the fastest 5 % of receivers can take
SWEEP = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995)
PROGRESSIVE = (30, 50, 70, 80, 90)
PARTS = ("simulate", "sweep", "rivals", "set", "sockets")


def mean(values):
    values = list(values)
    return sum(values) / len(values)


class Scaled:
    """A population with budgets for pictures of another size."""

    def __init__(self, of, factor):
        self.of, self.factor, self.words = of, factor, of.words

    def below(self, size):
        return self.of.below(size / self.factor)

    def at(self, share):
        return self.of.at(share) * self.factor


def sized(table, factor):
    return {choice: (size * factor, psnr) for choice, (size, psnr) in table.items()}


def summed(tables):
    """The table of an archive with all pictures at one choice: bytes are summed, PSNR is the mean."""
    return {c: (sum(t[c][0] for t in tables), mean(t[c][1] for t in tables)) for c in tables[0]}


class Broadcast:
    def __init__(self, a):
        self.a = a
        self.codecs = Codecs(a.build, a.work, 4 if a.quick else 1)
        self.test = sorted(glob.glob(os.path.join(a.test, "*.png")))
        self.tune = sorted(glob.glob(os.path.join(a.tune, "*.png")))[::1 if a.quick else 8]
        if a.quick:
            self.test, self.tune = self.test[:2], self.tune[-3:]
        self.receivers = 1000 if a.quick else 5000
        self.factor = self.pixels(self.test[0]) / PIXELS
        self.records = []
        self.by = {"commit": record.commit(), "machine": record.machine(), "command": "make paper-broadcast"}

    @staticmethod
    def pixels(path):
        with open(path, "rb") as png:
            head = png.read(24)
        return int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")

    def say(self, metric, value, unit, digits, **config):
        config["data"] = "generated pictures" if self.a.quick else "Kodak"
        self.records.append({
            "bench": "paper-broadcast", "metric": metric, "value": round(value, digits), "unit": unit, "config": config,
            **self.by})

    def population(self, name):
        return Scaled(population.POPULATIONS[name], self.factor)

    def draws(self, name, count=None):
        return [int(b * self.factor) for b in
                population.draw(population.POPULATIONS[name], SEED, count or self.receivers)]

    # --- what is offered ---------------------------------------------------------------------

    def tuning(self, codec):
        """Tables of the pictures on which ladders are designed, their bytes as those of a test picture's size."""
        size = self.factor * PIXELS
        return [sized(t, size / self.pixels(p)) for t, p in zip(self.codecs.tables(codec, self.tune), self.tune)]

    def limit(self, name, accounting):
        return self.population(name).at(LINE) if accounting == "multicast" else None

    def ladder(self, codec, accounting, name):
        """The ladder that pictures of TUNE choose, kept between runs."""
        def make():
            return ladder.design(self.tuning(codec), accounting, self.population(name), self.limit(name, accounting))
        key = "ladder-%s-%s-%s-%d" % (codec, accounting, name, len(self.tune))
        return [tuple(c) for c in self.codecs.kept(key, make)]

    # --- what is seen ------------------------------------------------------------------------

    @staticmethod
    def seen(tables, curves, choices, accounting, budgets):
        """Expected PSNR with the ladder, with the container of as many bytes in total, and these bytes."""
        of_ladder = of_container = sums = 0.0
        for table, curve in zip(tables, curves):
            step, sent = ladder.steps(table, choices, accounting), ladder.total(table, choices)
            of_ladder += mean(ladder.seen(step, b) for b in budgets)
            of_container += mean(curve.seen(min(b, sent)) for b in budgets)
            sums += sent
        n = len(tables)
        return of_ladder / n, of_container / n, sums / n

    def tell(self, tables, curves, choices, accounting, budgets, **config):
        a, b, sent = self.seen(tables, curves, choices, accounting, budgets)
        config["accounting"] = accounting
        self.say("psnr", a, "dB", 3, who="ladder", **config)
        self.say("psnr", b, "dB", 3, who="container", **config)
        self.say("gain", b - a, "dB", 3, **config)
        self.say("bytes_sent", sent, "B", 0, **config)
        self.say("files", len(choices), "files", 0, **config)
        return a, b

    def simulate(self):
        """Every population, accounting and codec, for thousands of receivers."""
        curves = self.codecs.curves(self.test)
        for codec in CODECS:
            tables = self.codecs.tables(codec, self.test)
            for name in population.POPULATIONS:
                for accounting in ACCOUNTINGS:
                    choices = self.ladder(codec, accounting, name)
                    self.tell(tables, curves, choices, accounting, self.draws(name), codec=codec, population=name,
                              ladder="tuned", receivers=self.receivers)
                    for choice in choices:
                        self.say("rung", mean(t[choice][0] for t in tables), "B", 0, codec=codec, population=name,
                                 accounting=accounting, scale=choice[0], setting=choice[1], quality=choice[2])

    def sweep(self):
        """Multicast by what the sender can send."""
        curves, budgets, of = self.codecs.curves(self.test), self.draws(MAIN), self.population(MAIN)
        for codec in CODECS:
            tables, tuning = self.codecs.tables(codec, self.test), self.tuning(codec)
            for share in SWEEP:
                def make(limit=of.at(share), tuning=tuning):
                    return ladder.design(tuning, "multicast", of, limit)
                key = "sweep-%s-%g-%d" % (codec, share, len(self.tune))
                choices = [tuple(c) for c in self.codecs.kept(key, make)]
                self.tell(tables, curves, choices, "multicast", budgets, codec=codec, population=MAIN, ladder="tuned",
                          line=share)

    def rivals(self):
        """Stronger ladders, designed on each test picture itself, and one progressive JPEG that is cut."""
        curves = self.codecs.curves(self.test)
        for codec in CODECS:
            for name, accounting in ((MAIN, "multicast"), (MAIN, "links"), ("classes", "multicast"), ("classes", "links")):
                limit, of, budgets = self.limit(name, accounting), self.population(name), self.draws(name)
                a = b = 0.0
                for table, curve in zip(self.codecs.tables(codec, self.test), curves):
                    choices = ladder.design([table], accounting, of, limit)
                    one = self.seen([table], [curve], choices, accounting, budgets)
                    a, b = a + one[0] / len(curves), b + one[1] / len(curves)
                config = {"codec": codec, "population": name, "accounting": accounting, "ladder": "own"}
                self.say("psnr", a, "dB", 3, who="ladder", **config)
                self.say("psnr", b, "dB", 3, who="container", **config)
                self.say("gain", b - a, "dB", 3, **config)
        budgets = self.draws(MAIN)
        sizes = [PIXELS * self.factor / self.pixels(p) for p in self.tune]

        def on_tune(quality):
            return mean(mean(c.seen(x / s) for x in budgets[:500])
                        for c, s in zip(self.codecs.progressives(quality, self.tune), sizes))
        quality = max(PROGRESSIVE, key=on_tune)
        cut = self.codecs.progressives(quality, self.test)
        a = mean(mean(c.seen(x) for x in budgets) for c in cut)
        b = mean(mean(t.seen(min(x, c.bytes)) for x in budgets) for t, c in zip(curves, cut))
        config = {"codec": "progressive JPEG", "population": MAIN, "accounting": "multicast", "ladder": "one file, cut",
                  "quality": quality}
        self.say("psnr", a, "dB", 3, who="ladder", **config)
        self.say("psnr", b, "dB", 3, who="container", **config)
        self.say("gain", b - a, "dB", 3, **config)

    def set(self):
        """All test pictures as one broadcast: one container of the set against seven archives."""
        n = len(self.test)
        curve = self.codecs.curve(self.test, "set-of-%d" % n)
        budgets = [n * b for b in self.draws(MAIN)]
        for codec in CODECS:
            table = summed(self.codecs.tables(codec, self.test))
            for accounting in ("multicast", "links"):
                self.tell([table], [curve], self.ladder(codec, accounting, MAIN), accounting, budgets, codec=codec,
                          population=MAIN, ladder="tuned", pictures="a set")

    # --- sockets -----------------------------------------------------------------------------

    def sockets(self):
        """The same receivers over TCP and by arithmetic; what they saw, decoded from the bytes that came."""
        count, seconds = (6, 0.5) if self.a.quick else (36, 1.0)
        budgets = self.draws(MAIN, count)
        curves = self.codecs.curves(self.test)
        for codec in CODECS:
            tcp = OverTcp(self.codecs, self.test, codec, self.ladder(codec, "links", MAIN), budgets, seconds)
            for who in ("ladder", "container"):
                for metric, (value, unit) in tcp.run(who, curves).items():
                    self.say("sockets_" + metric, value, unit, 4 if unit == "dB" else 0, codec=codec, who=who,
                             population=MAIN, accounting="links", receivers=count, seconds=seconds)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "out", "work", "test", "tune"):
        parser.add_argument(name)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--parts", default="")
    a = parser.parse_args()
    a.parts = a.parts.replace(",", " ").split() or list(PARTS)
    for part in a.parts:
        if part not in PARTS:
            parser.error("no part %s; there are %s" % (part, " ".join(PARTS)))
    return a


def main():
    a = arguments()
    os.makedirs(a.out, exist_ok=True)
    broadcast = Broadcast(a)
    for part in a.parts:
        print("paper-broadcast: " + part, file=sys.stderr, flush=True)
        broadcast.records = []
        getattr(broadcast, part)()
        path = os.path.join(a.out, part + ".jsonl")
        with open(path + ".part", "w", encoding="utf-8") as to:
            for line in broadcast.records:
                to.write(json.dumps(line, separators=(",", ":")) + "\n")
        os.replace(path + ".part", path)
    report.write(broadcast, a)


if __name__ == "__main__":
    main()
