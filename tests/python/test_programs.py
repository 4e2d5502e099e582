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
        with self.assertRaises(taper.ModelMissing):
            taper.open(data)
        for image, original in zip(taper.open(data, model=self.model), images(5)):
            self.assertGreater(taper.measure(image, original)["psnr"], 33)
        carried = taper.open(taper.encode(images(5), model=self.model, quality=36, embed_model=True))
        np.testing.assert_array_equal(carried[2], taper.open(data, model=model)[2])
        with self.assertRaises(taper.TaperError) as caught:  # it exists
            taper.train(images(20), self.model)
        self.assertIn("python.tpm", str(caught.exception))

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
