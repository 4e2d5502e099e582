"""offers.py -- what the pictures of a broadcast cost and show, measured by paper_broadcast and kept in a folder."""
import concurrent.futures
import json
import os
import subprocess

import ladder

CUTS = 56  # places in which a container is cut to know its curve
CONTAINER = ".taper"


class Codecs:
    """Measures with the programs of `build`; what was measured before stays in `work`."""

    def __init__(self, build, work, step):
        self.program, self.taper = (os.path.join(build, name) for name in ("bench/paper_broadcast", "taper"))
        self.work, self.step = work, step
        self.threads = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1)
        os.makedirs(work, exist_ok=True)

    def run(self, *words):
        done = subprocess.run([self.program, *map(str, words)], stdout=subprocess.PIPE, check=True, text=True)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def kept(self, name, make):
        """A JSON value of the folder, made where it is not there."""
        path = os.path.join(self.work, name + ".json")
        if not os.path.exists(path):
            value = make()
            with open(path + ".part", "w", encoding="utf-8") as to:
                json.dump(value, to)
            os.replace(path + ".part", path)
        with open(path, encoding="utf-8") as source:
            return json.load(source)

    def table(self, codec, image):
        """{(scale, setting, quality): (bytes, PSNR)}, and of a grey picture at None."""
        name = "rungs-%s-%d-%s" % (codec, self.step, stem(image))
        lines = self.kept(name, lambda: self.run("rungs", codec, self.step, image))
        rows = [(int(s), int(v), float(q), int(b), float(p)) for _, s, v, q, b, p in lines]
        return {(row[:3] if row[0] else None): row[3:] for row in rows}

    def tables(self, codec, images):
        return list(self.threads.map(lambda image: self.table(codec, image), images))

    def file(self, codec, choice, image):
        """The path of a file that is offered."""
        path = os.path.join(self.work, "%s-%s-%d-%d-%g" % ((stem(image), codec) + choice))
        if not os.path.exists(path):
            self.run("file", codec, *choice, image, path)
        return path

    def container(self, images, name):
        path = os.path.join(self.work, name + CONTAINER)
        if not os.path.exists(path):
            subprocess.run([self.taper, "encode", "-q", "-f", "-T", "1", "--best", "-o", path, *images], check=True)
        return path

    def curve(self, images, name):
        """The curve of a container with these images."""
        def make():
            path = self.container(images, name)
            return [(int(b), float(p)) for b, p in self.run("cuts", "taper", path, CUTS, *images)]
        return ladder.Curve(self.kept("cuts-%d-%s" % (CUTS, name), make))

    def curves(self, images):
        return list(self.threads.map(lambda image: self.curve([image], stem(image)), images))

    def progressive(self, quality, image):
        """The curve of one progressive JPEG."""
        def make():
            path = os.path.join(self.work, "%s-progressive-%d" % (stem(image), quality))
            self.run("progressive", quality, image, path)
            return [(int(b), float(p)) for b, p in self.run("cuts", "jpeg", path, CUTS, image)]
        return ladder.Curve(self.kept("progressive-%d-%s" % (quality, stem(image)), make))

    def progressives(self, quality, images):
        return list(self.threads.map(lambda image: self.progressive(quality, image), images))

    def show(self, codec, scale, image, files):
        return [float(line[0]) for line in self.run("show", codec, scale, image, *files)] if files else []


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]
