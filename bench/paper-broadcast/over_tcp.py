"""over_tcp.py -- a broadcast of pictures over TCP: what is served, what each receiver asks for, what it sees."""
import hashlib
import os

import ladder
import sockets
from offers import stem


def write(path, data):
    with open(path, "wb") as to:
        to.write(data)


def read(path):
    with open(path, "rb") as source:
        return source.read()


class OverTcp:
    """Receivers of `budgets` bytes a picture against the ladder `choices` of a codec, and against containers of as many
    bytes. Links of their own."""

    def __init__(self, codecs, images, codec, choices, budgets, seconds):
        self.codecs, self.images, self.codec, self.choices = codecs, images, codec, choices
        self.budgets, self.seconds = budgets, seconds
        self.tables = codecs.tables(codec, images)
        self.sent = [ladder.total(table, choices) for table in self.tables]
        self.folder = os.path.join(codecs.work, "served-" + codec)
        os.makedirs(self.folder, exist_ok=True)
        for i in range(len(images)):
            self.publish(i)

    def name(self, i, choice):
        """The file of a choice in the folder; None: the container."""
        image = stem(self.images[i])
        return image + ".taper" if choice is None else "%s-%d-%d-%g" % ((image,) + choice)

    def publish(self, i):
        for choice in self.choices:
            data = read(self.codecs.file(self.codec, choice, self.images[i]))
            if len(data) != self.tables[i][choice][0]:
                raise SystemExit("%s has not the bytes that were measured" % self.name(i, choice))
            write(os.path.join(self.folder, self.name(i, choice)), data)
        container = read(self.codecs.container([self.images[i]], stem(self.images[i])))
        write(os.path.join(self.folder, self.name(i, None)), container[:self.sent[i]])

    def best(self, i, budget):
        """The choice of a ladder's receiver; None: no file is small enough."""
        fit = [c for c in self.choices if self.tables[i][c][0] <= budget]
        return max(fit, key=lambda c: self.tables[i][c][1]) if fit else None

    def receive(self, who):
        """What came: [receiver][picture]; bytes of it that were late."""
        def wanted(k):
            for i in range(len(self.images)):
                choice = self.best(i, self.budgets[k]) if who == "ladder" else None
                yield None if who == "ladder" and choice is None else "/" + self.name(i, choice)
        got = [[b""] * len(self.images) for _ in self.budgets]

        def keep(k, i, data):
            got[k][i] = data
        rates = [(b + 0.5) / self.seconds for b in self.budgets]  # rate * seconds rounds down to b
        server = sockets.serve(self.folder)
        late, _ = sockets.broadcast(server.server_address, rates, wanted, self.seconds, keep)
        server.shutdown()
        return got, late

    def foreseen(self, who, k, i, curve):
        """Bytes and PSNR by arithmetic."""
        budget, table = self.budgets[k], self.tables[i]
        if who == "container":
            size = min(budget, self.sent[i], curve.bytes)
            return size, curve.seen(size)
        choice = self.best(i, budget)
        return table[choice]

    def see(self, who, i, bodies):
        """PSNR of the bytes that each receiver of a picture got, decoded; equal bytes are decoded once."""
        folder = os.path.join(self.codecs.work, "received-%d" % i)
        os.makedirs(folder, exist_ok=True)
        groups, keys, shown = {}, [], {}
        for k, body in enumerate(bodies):
            choice = self.best(i, self.budgets[k]) if who == "ladder" else None
            scale = choice[0] if choice else 1
            keys.append((scale, hashlib.sha256(body).hexdigest()))
            if keys[-1] not in shown:
                shown[keys[-1]] = None
                write(os.path.join(folder, keys[-1][1]), body)
                groups.setdefault(scale, []).append(keys[-1])
        coder = self.codec if who == "ladder" else "taper"
        for scale, members in groups.items():
            paths = [os.path.join(folder, digest) for _, digest in members]
            shown.update(zip(members, self.codecs.show(coder, scale, self.images[i], paths)))
        return [shown[key] for key in keys]

    def run(self, who, curves):
        """{metric: (value, unit)} for receivers that read the best file of the ladder, or the container."""
        got, late = self.receive(who)
        seen = list(self.codecs.threads.map(lambda i: self.see(who, i, [of[i] for of in got]),
                                            range(len(self.images))))
        missing, differences, psnr = 0, [], []
        for i, curve in enumerate(curves):
            for k in range(len(self.budgets)):
                size, expected = self.foreseen(who, k, i, curve)
                missing += size - len(got[k][i])
                differences.append(abs(seen[i][k] - expected))
                psnr.append(seen[i][k])
        n = len(psnr)
        return {"psnr": (sum(psnr) / n, "dB"), "bytes": (sum(len(b) for of in got for b in of), "B"),
                "bytes_missing": (missing, "B"), "bytes_late": (late, "B"),
                "difference_mean": (sum(differences) / n, "dB"), "difference_largest": (max(differences), "dB")}
