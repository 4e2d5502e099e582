"""imageio opens containers by the plugin of Pillow."""
import os
import unittest

import imageio.v3
import numpy as np
import taper
import taper.pillow  # noqa: F401

PATH = os.path.join(os.environ.get("SCRATCH", os.getcwd()), "imageio.taper")


class ImageIO(unittest.TestCase):
    def test_images(self):
        images = [np.full((20, 30, 3), 60 * k, np.uint8) for k in range(3)] + [np.eye(9, dtype=np.uint8) * 200]
        taper.encode(images, PATH, lossless=True, names=["a.png", "b.png", "c.png", "d.png"])
        with open(PATH, "rb") as file:
            data = file.read()
        for source in (PATH, data):
            np.testing.assert_array_equal(imageio.v3.imread(source), images[0])
            for k, image in enumerate(imageio.v3.imiter(source)):
                np.testing.assert_array_equal(image, images[k])
            self.assertEqual(k, 3)
            np.testing.assert_array_equal(imageio.v3.imread(source, index=3), images[3])
        self.assertEqual(imageio.v3.immeta(PATH, index=2)["name"], "c.png")


if __name__ == "__main__":
    unittest.main()
