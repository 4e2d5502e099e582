"""taper.train, taper.compare and the plugin of Pillow."""
import os
import signal
import threading
import time
import unittest

import numpy as np
import taper
import taper.pillow  # noqa: F401
from PIL import Image

FOLDER = os.environ.get("SCRATCH", os.getcwd())


def images(count):
    random = np.random.default_rng(4)
    y, x = np.mgrid[:32, :32]
    smooth = (np.stack([x * a, y * b, x * y * a // 40], -1) for a, b in random.integers(1, 8, (count, 2)))
    return [np.clip(image + random.integers(0, 9, (32, 32, 3)), 0, 255).astype(np.uint8) for image in smooth]


class Programs(unittest.TestCase):
    def setUp(self):
        self.model = os.path.join(FOLDER, "python.tpm")

    def test_train_and_encode(self):
        model = taper.train(images(60), self.model, window=8, quick=True, fast=True, force=True)
        self.assertEqual((model.window_width, model.units, model.report["images"]), (8, 192, 60))
        data = taper.encode(images(5), model=model, quality=36)
        with self.assertRaisesRegex(taper.ModelMissing, "give it as `model`"):
            taper.open(data)
        for image, original in zip(taper.open(data, model=self.model), images(5)):
            self.assertGreater(taper.measure(image, original)["psnr"], 33)
        carried = taper.open(taper.encode(images(5), model=self.model, quality=36, embed_model=True))
        np.testing.assert_array_equal(carried[2], taper.open(data, model=model)[2])
        with self.assertRaises(taper.TaperError) as caught:  # it exists
            taper.train(images(20), self.model)
        self.assertIn("python.tpm", str(caught.exception))

    def test_bits_for_search(self):
        """The nearest neighbour of each image is itself, also from a coarse copy."""
        path, random = os.path.join(FOLDER, "python-bits.tpm"), np.random.default_rng(5)
        drawn = [np.kron(random.integers(0, 256, (4, 4, 3)), np.ones((8, 8, 1))).astype(np.uint8) for _ in range(60)]
        model = taper.train_bits(drawn, path, window="whole", units=64, independent=True, force=True)
        self.assertEqual((model.is_binary, model.units, model.report["images"]), (True, 64, 60))
        codes = taper.pack_bits(taper.embed(drawn, model))
        index = taper.Index.build(codes, os.path.join(FOLDER, "python.tpx"), bits=64)
        coarse = taper.open(taper.encode(drawn, model="tiny", bytes=6000))
        found, _ = index.nearest(taper.pack_bits(taper.embed(coarse, model)), k=1)
        self.assertGreater((found[:, 0] == np.arange(60)).mean(), 0.8)

    def test_built_in_search(self):
        """The built-in model of search, by default: copies at half the side are found."""
        random = np.random.default_rng(6)
        drawn = [np.kron(random.integers(0, 256, (4, 4, 3)), np.ones((8, 8, 1))).astype(np.uint8) for _ in range(20)]
        index = taper.Index.build(taper.pack_bits(taper.embed(drawn)), os.path.join(FOLDER, "built-in.tpx"))
        self.assertEqual((index.bits, taper.Model.builtin("search").is_binary), (256, True))
        halves = [image[::2, ::2] for image in drawn]
        found, _ = index.nearest(taper.pack_bits(taper.embed(halves)), k=1)
        self.assertGreater((found[:, 0] == np.arange(20)).mean(), 0.8)

    def test_labels(self):
        """Two classes that no neighbours of pixels tell apart: a bright pixel on the left, or on the right."""
        random, labels = np.random.default_rng(1), np.arange(200) % 2
        drawn = random.integers(0, 200, (200, 8, 8)).astype(np.uint8)
        drawn[np.arange(200), 4, np.where(labels, 6, 1)] = 255
        path = os.path.join(FOLDER, "python-labels.tpm")
        model = taper.train_labels(drawn, path, labels=labels, objective="nca", units=2, epochs=20, force=True)
        self.assertEqual((model.is_embedding, model.report["classes"], model.report["labelled"]), (True, 2, 200))
        codes = taper.embed(drawn, model)
        apart = ((codes[:, None] - codes[None]) ** 2).sum(-1) + np.diag(np.full(200, np.inf))
        self.assertGreater((labels[apart.argmin(1)] == labels).mean(), 0.8)
        with self.assertRaises(taper.TaperError):
            taper.train_labels(drawn, path, labels=labels[:5], objective="nca", force=True)

    def test_interruption(self):
        """Ctrl-C ends the program, and no file is left."""
        path = os.path.join(FOLDER, "interrupted.tpm")
        threading.Timer(2.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.time()
        with self.assertRaises(KeyboardInterrupt):
            taper.train(images(300), path, family="dense", window="whole", units=200, epochs=4000)
        self.assertLess(time.time() - began, 30)
        self.assertFalse(os.path.exists(path))

    def test_compare(self):
        folder = os.path.join(FOLDER, "compared")
        os.makedirs(folder, exist_ok=True)
        for k, image in enumerate(images(3)):
            Image.fromarray(image).save(os.path.join(folder, "%d.png" % k))
        told = taper.compare(folder, model="tiny", rivals=["jpeg"])
        self.assertEqual(told["images"], 3)
        self.assertTrue({"taper", "jpeg"} <= {curve["codec"] for curve in told["curves"]})
        again = taper.compare(images(3), model="tiny", rivals=["jpeg"])
        self.assertEqual(again["curves"], told["curves"])
        own = taper.train(images(40), self.model, window=8, quick=True, fast=True, force=True)
        for model, same in ((taper.Model.builtin("tiny"), "tiny"), (own, self.model)):
            told = [taper.compare(images(3), model=name, rivals="jpeg")["curves"] for name in (model, same)]
            self.assertEqual(*told)
        with self.assertRaises(ValueError):
            taper.compare(images(3), model=taper.Model.load(own.file))
        self.assertEqual(taper.programs.switches({"from_": own, "hold_out": 0, "quick": True, "seed": None}),
                         ["--from", os.path.abspath(self.model), "--hold-out", "0", "--quick"])

    def test_pillow(self):
        path = os.path.join(FOLDER, "pillow.taper")
        gray, alpha = images(1)[0][..., 0], np.dstack([images(1)[0], images(1)[0][..., :1]])
        taper.encode([images(1)[0], gray, alpha], path, model="tiny", names=["a.png", "b.png", "c.png"])
        there = taper.open(path)
        with Image.open(path) as image:
            self.assertEqual((image.format, image.mode, image.size, image.n_frames), ("TAPER", "RGB", (32, 32), 3))
            np.testing.assert_array_equal(np.array(image), there[0])
            for frame, mode in ((1, "L"), (2, "RGBA"), (0, "RGB")):
                image.seek(frame)
                self.assertEqual((image.tell(), image.mode, image.info["name"]), (frame, mode, there.names[frame]))
                np.testing.assert_array_equal(np.array(image.convert(mode)), there[frame])
            with self.assertRaises(EOFError):
                image.seek(3)
            image.seek(0)
            image.resize((8, 8)).save(os.path.join(FOLDER, "x.jpg"))


if __name__ == "__main__":
    unittest.main()
