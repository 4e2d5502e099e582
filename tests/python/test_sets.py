"""Containers from Python, against what the program `taper` makes of the same files."""
import gc
import io
import os
import pickle
import re
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
import taper
from PIL import Image

TAPER, SAMPLES = os.environ["TAPER"], os.environ["SAMPLES"]
FOLDER = os.environ.get("SCRATCH", os.getcwd())


def here(name):
    return os.path.join(FOLDER, name)


def run(*arguments):
    subprocess.run([TAPER, *arguments], check=True, capture_output=True)


def decoded(path, *options):
    """What `taper decode` writes, by the names of the files."""
    to = here("decoded")
    run("decode", "-q", "-f", *options, "-o", to, path)
    out = {}
    for folder, _, files in os.walk(to):
        for name in files:
            full = os.path.join(folder, name)
            out[os.path.relpath(full, to)] = np.array(Image.open(full))
            os.remove(full)
    return out


def pictures():
    """Awkward ones: one pixel, grey, alpha, 16 bits, a drawing, wide, tall, noise."""
    random = np.random.default_rng(5)
    y, x = np.mgrid[:70, :90]
    smooth = np.stack([x * 2, y * 3, x + y], -1).astype(np.uint8)
    return {
        "pixel.png": smooth[:1, :1], "grey.png": smooth[..., 0].copy(), "smooth.png": smooth,
        "alpha.png": np.dstack([smooth, (x * 2).astype(np.uint8)]), "deep.png": smooth.astype(np.uint16) * 257 + 3,
        "drawing.png": np.where((x // 9 + y // 7)[..., None] % 2, [200, 30, 90], [255, 255, 255]).astype(np.uint8),
        "wide.png": random.integers(0, 256, (2, 300, 3), dtype=np.uint8),
        "a/tall.png": random.integers(0, 256, (130, 3, 3), dtype=np.uint8)}


class Sets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images = pictures()
        cls.files = {}
        for layout in ("set", "image", "gallery"):
            cls.files[layout] = here(layout + ".taper")
            taper.encode(cls.images.values(), cls.files[layout], names=list(cls.images), labels=[0, 1] * 4,
                         classes=["even", "odd"], layout=layout)

    def test_pixels_are_those_of_the_program(self):
        for layout, path in self.files.items():
            with taper.open(path) as images:
                self.assertEqual((len(images), images.layout), (8, layout))
                there = decoded(path)
                self.assertEqual(sorted(there), sorted(images.names))
                for name in images.names:
                    self.assertEqual(images[name].dtype, self.images[name].dtype)
                    self.assertEqual(images[name].shape, self.images[name].shape)
                    if name != "deep.png":  # Pillow reads 8 bits of it
                        np.testing.assert_array_equal(images[name], there[name], name)

    def test_cuts_are_those_of_the_program(self):
        path = self.files["set"]
        images = taper.open(path)
        for size in (images.front_bytes, images.front_bytes + 700, images.file_bytes // 2, images.file_bytes):
            there = decoded(path, "--bytes", str(size))
            for name, image in zip(images.names, images.at(bytes=size)):
                if name != "deep.png":
                    np.testing.assert_array_equal(image, there[name], (name, size))
        self.assertFalse(images.at(bytes=images.file_bytes // 2).completeness(6)["complete"])
        self.assertTrue(images.completeness(6)["complete"])
        nearer = images.at(psnr=35)
        self.assertLess(nearer._cut, images.file_bytes)
        from taper.quality import mean_psnr
        self.assertGreaterEqual(mean_psnr(nearer, images), 35)

    def test_sequence(self):
        images = taper.open(self.files["gallery"])
        whole = list(images)
        self.assertEqual(len(whole), 8)
        for i in range(-8, 8):
            np.testing.assert_array_equal(images[i], whole[i])
        part = images[1:7:2]
        self.assertEqual(part.names, images.names[1:7:2])
        self.assertEqual(part.labels.tolist(), [1, 1, 1])
        self.assertEqual(images.classes, ["even", "odd"])
        np.testing.assert_array_equal(part[-1], whole[5])
        for wrong in (8, -9):
            with self.assertRaises(IndexError):
                images[wrong]
        with self.assertRaises(KeyError):
            images["none.png"]
        self.assertIn("8 images", repr(images))
        self.assertIn("data:image/png;base64,", images._repr_html_())
        small = taper.open(taper.encode([np.zeros((20, 30), np.uint8), np.zeros((40, 200), np.uint8)]))._repr_html_()
        self.assertEqual(re.findall(r"<img [^>]*width=(\d+)", small), ["90", "96"])  # three times as wide; scaled down

    def test_sources(self):
        path = self.files["set"]
        file = open(path, "rb")
        data = file.read()
        whole = taper.open(path)
        for source in (data, bytearray(data), io.BytesIO(data), file):
            images = taper.open(source)
            for i in range(len(images)):
                np.testing.assert_array_equal(images[i], whole[i])
        file.close()
        cut = taper.open(data[:len(data) // 2])
        np.testing.assert_array_equal(cut[6], whole.at(bytes=len(data) // 2)[6])

    def test_scales_crops_and_thumbnails(self):
        images = taper.open(self.files["set"])
        whole = images["smooth.png"]
        np.testing.assert_array_equal(images.render(2, crop=(10, 5, 33, 21)), whole[5:26, 10:43])
        self.assertEqual(images.render(2, scale=4).shape, (18, 23, 3))
        self.assertEqual(images.thumbnail(2, 45).shape, (35, 45, 3))
        self.assertEqual(images.thumbnail(0, 45).shape, (1, 1, 3))
        self.assertEqual(images.thumbnail(3, 30).shape, (23, 30, 4))
        self.assertLess(np.abs(images.thumbnail(2, 30).astype(int) - whole[::3, ::3][:23, :30].astype(int)).mean(), 12)
        np.testing.assert_array_equal(images.render(2), whole)  # a scale does not stay

    def test_threads_share_a_set(self):
        images, wrong = taper.open(self.files["image"]), []
        whole = list(images)

        def read():
            for i in range(40):
                if not np.array_equal(images[i % 8], whole[i % 8]):
                    wrong.append(i)

        threads = [threading.Thread(target=read) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_processes(self):
        images = taper.open(self.files["set"]).at(bytes=3000)[2:5]
        again = pickle.loads(pickle.dumps(images))
        self.assertEqual(again.names, images.names)
        np.testing.assert_array_equal(again[0], images[0])
        child = os.fork()
        if not child:
            os._exit(not np.array_equal(images[0], again[0]))
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        with open(self.files["set"], "rb") as file, self.assertRaises(TypeError):
            pickle.dumps(taper.open(file))

    def test_errors(self):
        with open(self.files["set"], "rb") as file:
            data = file.read()
        for source, error, words in (
                (here("none.taper"), taper.ReadError, "none.taper"), (data[:30], taper.Truncated, "incomplete header"),
                (b"no container at all, but long enough", taper.Corrupt, ""), (b"", taper.Truncated, "")):
            with self.assertRaises(error) as caught:
                taper.open(source)
            self.assertIn(words, str(caught.exception))
            self.assertIsInstance(caught.exception, taper.TaperError)
        damaged = bytearray(data)
        damaged[-5] ^= 255
        images = taper.open(damaged)
        with self.assertRaises(taper.Corrupt):
            list(images)
        self.assertEqual(len(list(taper.open(damaged, damaged="keep"))), 8)
        with self.assertRaisesRegex(TypeError, "Model.load"):
            taper.Model("own.tpm")
        for wrong in (np.zeros((4, 4), np.float32), np.zeros((0, 4), np.uint8), np.zeros((4, 4, 5), np.uint8)):
            with self.assertRaises((TypeError, ValueError)):
                taper.encode([wrong])
        for paths in ("photos/", ["photos/1.png"]):
            with self.assertRaisesRegex(TypeError, "path.*program taper"):
                taper.encode(paths)
        images = taper.open(data)
        images.close()
        with self.assertRaises(ValueError):
            images[0]

    def test_errors_name_the_file_and_the_remedy(self):
        with open(self.files["set"], "rb") as file:
            damaged = bytearray(file.read())
        damaged[-5] ^= 255
        for name, data in (("damaged.taper", damaged), ("none.taper", b"text" * 20)):
            with open(here(name), "wb") as file:
                file.write(data)
        nowhere = os.path.join("nowhere", "x.taper")
        for act, name, words in (
                (lambda: list(taper.open(here("damaged.taper"))), "damaged.taper", "fetch the file again"),
                (lambda: taper.open(here("damaged.taper")).batch(width=9, height=9), "damaged.taper", ""),
                (lambda: taper.open(here("none.taper")), "none.taper", "taper.encode makes one"),
                (lambda: taper.Model.load(here("none.taper")), "none.taper", "taper.train makes one"),
                (lambda: taper.encode([self.images["grey.png"]], here(nowhere)), nowhere, "check the path")):
            with self.assertRaises(taper.TaperError) as caught:
                act()
            self.assertRegex(str(caught.exception), "^[^:]*" + re.escape(name) + ": .*" + words)

    def test_dropped_sets_are_closed(self):
        """Without the garbage collector, so that loops over many files do not run out of them."""
        gc.collect()
        gc.disable()
        try:
            before = len(os.listdir("/proc/self/fd"))
            for _ in range(3):
                images = taper.open(self.files["image"])
                part = images.at(passes=5)
                images[0], part[1], part.model
                thread = threading.Thread(target=images.thumbnail, args=(0,))
                thread.start()
                thread.join()
            self.assertEqual(len(os.listdir("/proc/self/fd")), before + 1)
            del images, thread
            np.testing.assert_array_equal(part[1], part[1])
            del part
            self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        finally:
            gc.enable()

    def test_model_of_a_closed_set(self):
        smooth = self.images["smooth.png"]
        whole = taper.encode([smooth], embed_model=True)
        with taper.open(whole) as images:
            encoder = taper.Encoder(images.model, quality=40)
            model = images.model
        del images
        encoder.add(smooth)
        self.assertEqual(encoder.finish(), taper.encode([smooth], model=model))
        again = taper.open(taper.encode([smooth], model=model), model=model)
        np.testing.assert_array_equal(again[0], taper.open(whole)[0])

    def test_close_while_threads_decode(self):
        for _ in range(5):
            images, ended = taper.open(self.files["set"]), []

            def decode(images=images, ended=ended):
                try:
                    while True:
                        images[2]
                except ValueError as error:
                    ended.append(str(error))

            threads = [threading.Thread(target=decode) for _ in range(3)]
            for thread in threads:
                thread.start()
            time.sleep(0.05)
            images.close()
            for thread in threads:
                thread.join()
            self.assertEqual(ended, ["the set is closed"] * 3)

    def test_ends_of_processes(self):
        """A forked process has none of the library's threads; at the end of one, other threads may still decode."""
        script = (
            "import os, sys, threading, taper\n"
            "images = taper.open(sys.argv[1], threads=4)\n"
            "def work():\n"
            "    while True: images[2]\n"
            "images[2]\n"
            "for end in (lambda: [images.at(passes=k)[2] for k in range(1, 7)], images.close, lambda: sys.exit(0)):\n"
            "    child = os.fork()\n"
            "    if not child:\n"
            "        end(); sys.exit(0)\n"
            "    assert os.waitpid(child, 0)[1] == 0\n"
            "for _ in range(2): threading.Thread(target=work, daemon=True).start()\n"
            "images[1]\n")
        for _ in range(3):
            subprocess.run([sys.executable, "-c", script, self.files["set"]], check=True, timeout=60)

    def test_encode(self):
        data = taper.encode(self.images.values(), bytes=6000)
        self.assertLessEqual(len(data), 6000)
        exact = taper.open(taper.encode(self.images.values(), lossless=True))
        for image, original in zip(exact, self.images.values()):
            np.testing.assert_array_equal(image, original)
        strided = taper.open(taper.encode([np.asfortranarray(self.images["smooth.png"])[::-1, ::2]], lossless=True))
        np.testing.assert_array_equal(strided[0], self.images["smooth.png"][::-1, ::2])
        out = io.BytesIO()
        taper.encode(list(self.images.values())[:2], out, layout="gallery", embed_model=True)
        self.assertEqual(len(taper.open(out.getvalue())), 2)

        class Full(io.BytesIO):
            def write(self, data):
                raise OSError(28, "no space left")

        with self.assertRaises(OSError) as caught:
            taper.encode(list(self.images.values())[:1], Full())
        self.assertEqual(caught.exception.errno, 28)


    def test_labels_without_classes(self):
        images = taper.open(taper.encode(list(self.images.values())[:2], labels=[3, None]))
        self.assertEqual((images.labels.tolist(), images.classes), ([3, -1], ["0", "1", "2", "3"]))

    def test_names_of_equal_images(self):
        os.makedirs(here("equal"), exist_ok=True)
        for name in ("a.png", "b.png"):
            Image.fromarray(self.images["smooth.png"]).save(os.path.join(here("equal"), name))
        run("encode", "-q", "-f", "--dedup", "-o", here("equal.taper"), here("equal"))
        images = taper.open(here("equal.taper"))
        self.assertEqual(images.names, ["a.png"])
        np.testing.assert_array_equal(images["b.png"], images[0])

    def test_arguments(self):
        image, images = self.images["smooth.png"], taper.open(self.files["set"])
        fixed = np.frombuffer(bytes(75), np.uint8).reshape(1, 5, 5, 3)
        for wrong in (
                lambda: taper.encode([image], names=["a\0b"]), lambda: taper.encode([image], classes=["a\0b"]),
                lambda: taper.encode([image], "x\0y"), lambda: taper.encode([image, image], names=["a"]),
                lambda: taper.encode([image], names=["a", "b"]),
                lambda: taper.encode([image], labels=[5], classes=["x"]),
                lambda: taper.encode([image], labels=[1 << 32]), lambda: taper.encode([image], bpp=1e30),
                lambda: taper.encode([image], bpp=-1), lambda: taper.encode([image], bytes=-1),
                lambda: taper.encode([image], lossless=True, bytes=500),
                lambda: taper.encode([image], lossless=True, bpp=1),
                lambda: taper.encode([image], layout="none"), lambda: taper.encode([image], drawings="none"),
                lambda: images.render(2, crop=(1 << 32, 0, 5, 5)), lambda: images.render(2, crop=(-1, 0, 5, 5)),
                lambda: images.render(2, crop=(80, 0, 11, 5)), lambda: images.render(2, scale=3),
                lambda: images.render(2, scale=2.5), lambda: images.batch([2], width=5, height=5, out=fixed),
                lambda: images.batch([2], crops=[[1 << 40, 0]]),
                lambda: images.batch([2], crops=[[float("nan"), 0]]), lambda: images.batch([2], width=-5),
                lambda: images.batch([2], float32=True, std=0), lambda: images.at(bytes=-1),
                lambda: images.at(passes=-1), lambda: images.thumbnail(2, 0)):
            with self.assertRaises(ValueError):
                wrong()
        self.assertEqual(fixed.sum(), 0)
        with self.assertRaises(TypeError):
            taper.encode([image], names=[5])


class Batches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        random = np.random.default_rng(2)
        base = random.integers(0, 200, (30, 1, 1, 3))
        cls.data = (base + np.arange(32)[:, None, None] + random.integers(0, 20, (30, 32, 32, 3))).astype(np.uint8)
        cls.file = taper.encode(cls.data, model="tiny", labels=range(30), bpp=6)

    def test_batches_are_the_images(self):
        images = taper.open(self.file)
        whole = np.stack(list(images))
        np.testing.assert_array_equal(images.batch(), whole)
        order = [7, 3, 29, 0, 7]
        np.testing.assert_array_equal(images.batch(order), whole[order])
        np.testing.assert_array_equal(images.batch(order, threads=2, channels_first=True),
                                      whole[order].transpose(0, 3, 1, 2))
        floats = images.batch(order, float32=True, mean=[.4, .5, .6], std=.25)
        np.testing.assert_allclose(floats, (whole[order] / 255 - [.4, .5, .6]) / .25, atol=1e-5)
        padded = np.pad(whole[:2], ((0, 0), (4, 4), (4, 4), (0, 0)), "edge")
        np.testing.assert_array_equal(images.batch([0, 1], width=20, height=24, crops=[[-4, -4], [10, 12]]),
                                      [padded[0, :24, :20], padded[1, 16:40, 14:34]])
        out = np.empty((2, 32, 32, 3), np.uint8)
        self.assertIs(images.batch([1, 2], out=out), out)
        for wrong in (np.empty((2, 32, 32, 3), np.float32), np.empty((2, 32, 64, 3), np.uint8)[:, :, ::2]):
            with self.assertRaises(ValueError):
                images.batch([1, 2], out=wrong)
        with self.assertRaises(IndexError):
            images.batch([30])
        self.assertEqual(images.batch([]).shape[0], 0)

    def test_codes_and_search(self):
        images = taper.open(self.file)
        codes = images.codes(units=12)
        self.assertEqual(codes.shape, (30, 4, 4, 12))
        model = images.model
        windows = images.batch()[:, :8, :8]
        embedded = model.embed(windows)
        self.assertEqual(embedded.shape, (30, model.units))
        bits = taper.pack_bits(embedded, 100)
        np.testing.assert_array_equal(
            np.unpackbits(bits.astype(">u8").view(np.uint8), axis=1)[:, :100], (embedded[:, :100] > 0))
        index = taper.Index.build(bits, here("x.tpx"), bits=100, labels=range(30),
                                  classes=["c%d" % k for k in range(30)])
        found, distances = index.nearest(bits, 30, recall=1)
        unpacked = np.unpackbits(bits.view(np.uint8), axis=1).astype(int)
        there = (unpacked[:, None] != unpacked[None]).sum(-1)
        np.testing.assert_array_equal(distances, np.sort(there, axis=1))
        np.testing.assert_array_equal(np.take_along_axis(there, found.astype(int), 1), distances)
        self.assertEqual((len(index), index.label(7), index.code(4).tolist()), (30, 7, bits[4].tolist()))
        for wrong in ({"labels": [0, 1]}, {"names": ["a"]}, {"names": ["a\0"] * 30}):
            with self.assertRaises(ValueError):
                taper.Index.build(bits, here("x.tpx"), bits=100, **wrong)
        for k in (0, 31, -1):
            with self.assertRaises(ValueError):
                index.nearest(bits, k)
        index.close()
        for closed in (lambda: index.nearest(bits, 3), lambda: index.name(0), lambda: index.code(1)):
            with self.assertRaises(ValueError):
                closed()

    def test_several_indexes(self):
        bits = taper.pack_bits(np.random.default_rng(7).normal(size=(30, 100)))
        whole = taper.Index.build(bits, here("x.tpx"), bits=100, names=["%d" % k for k in range(30)])
        paths = [here("part-%d.tpx" % k) for k in range(3)]
        for k, path in enumerate(paths):
            taper.Index.build(bits[10 * k:10 * k + 10], path, bits=100,
                              names=["%d" % j for j in range(10 * k, 10 * k + 10)])
        several = taper.Index(paths)
        self.assertEqual((len(several), several.bits, several.paths, several.name(25)), (30, 100, paths, "25"))
        for joined in (several, pickle.loads(pickle.dumps(several)), taper.Index(iter(paths))):
            for got, want in zip(joined.nearest(bits, 30, recall=1), whole.nearest(bits, 30, recall=1)):
                np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(several.code(17), bits[17])
        several.close()
        with self.assertRaises(ValueError):
            several.name(0)
        with self.assertRaises(ValueError):
            taper.Index([])
        taper.Index.build(bits[:, :1], here("short.tpx"), bits=64)
        with self.assertRaisesRegex(ValueError, "64 bits"):
            taper.Index(paths + [here("short.tpx")])
        with self.assertRaisesRegex(OSError, "none.tpx"):
            taper.Index(paths + [here("none.tpx")])


if __name__ == "__main__":
    unittest.main()
