"""Data sets of PyTorch: every image once, order by seed, workers, fidelity, pixels."""
import os
import unittest

import numpy as np
import taper
import taper.torch
import torch
from torch.utils.data import DataLoader

FOLDER = os.environ.get("SCRATCH", os.getcwd())


def numbered(count):
    """Images of 32 x 32 that differ in their mean; labels are their numbers."""
    random = np.random.default_rng(1)
    base = (np.arange(count) * 255 // count).reshape(-1, 1, 1, 1)
    return np.clip(base + random.integers(-3, 4, (count, 32, 32, 3)), 0, 255).astype(np.uint8)


class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path, cls.data = os.path.join(FOLDER, "torch.taper"), numbered(200)
        taper.encode(cls.data, cls.path, model="tiny", labels=range(200), classes=["c%d" % k for k in range(200)],
                     group_images=16, drawings="lossy")
        cls.whole = torch.from_numpy(taper.open(cls.path).batch(channels_first=True))

    def epoch(self, data, **options):
        batches = list(DataLoader(data, batch_size=None, **options))
        return torch.cat([images for images, _ in batches]), torch.cat([labels for _, labels in batches])

    def test_in_order(self):
        data = taper.torch.Batches(self.path, 32)
        images, labels = self.epoch(data)
        self.assertEqual(labels.tolist(), list(range(200)))
        self.assertTrue(torch.equal(images, self.whole))
        self.assertEqual(len(data), 7)

    def test_workers_share_the_images(self):
        data = taper.torch.Batches(self.path, 32, shuffle=True, seed=3, mix=3)
        first = self.epoch(data)[1]
        self.assertEqual(sorted(first.tolist()), list(range(200)))
        self.assertNotEqual(first.tolist(), list(range(200)))
        self.assertEqual(self.epoch(data)[1].tolist(), first.tolist())  # by seed and epoch alone
        for context in ("fork", "spawn"):
            images, labels = self.epoch(data, num_workers=2, multiprocessing_context=context)
            self.assertEqual(sorted(labels.tolist()), list(range(200)))
            self.assertTrue(torch.equal(images, self.whole[labels]))
        data.set_epoch(1)
        self.assertNotEqual(self.epoch(data)[1].tolist(), first.tolist())
        self.assertNotEqual(self.epoch(data, num_workers=2)[1].tolist(), first.tolist())

    def test_without_seed_by_torch(self):
        data = taper.torch.Batches(self.path, 50, shuffle=True)
        orders = []
        for seed in (5, 5, 6):
            torch.manual_seed(seed)
            orders.append([self.epoch(data, num_workers=2)[1].tolist(), self.epoch(data)[1].tolist()])
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])

    def test_persistent_workers(self):
        """Each epoch has its own order, also where no seed is given, and its own fidelity."""
        data = taper.torch.Batches(self.path, 50, shuffle=True)
        torch.manual_seed(5)
        loader = DataLoader(data, batch_size=None, num_workers=2, persistent_workers=True)
        orders = [torch.cat([labels for _, labels in loader]).tolist() for _ in range(3)]
        self.assertEqual(len({tuple(order) for order in orders}), 3)
        for order in orders:
            self.assertEqual(sorted(order), list(range(200)))
        torch.manual_seed(5)
        self.assertEqual(self.epoch(data, num_workers=2)[1].tolist(), orders[0])
        data.set_fidelity(20)
        coarse = torch.from_numpy(taper.open(self.path).at(bytes=20 * 200).batch(channels_first=True))
        for images, labels in loader:
            self.assertTrue(torch.equal(images, coarse[labels]))

    def test_workers_draw_crops_of_their_own(self):
        ramp = np.arange(32, dtype=np.uint8) * 7
        image = np.stack(np.broadcast_arrays(ramp, ramp[:, None], 0), -1).astype(np.uint8)
        same = taper.encode([image] * 64, model="tiny", lossless=True)
        data = taper.torch.Batches(same, 32, width=1, height=1, crop="random", seed=1)
        places = self.epoch(data, num_workers=2)[0][:, :2, 0, 0]
        self.assertFalse(torch.equal(places[:32], places[32:]))

    def test_fidelity(self):
        data = taper.torch.Batches(self.path, 64, fidelity=20)
        coarse = taper.open(self.path).at(bytes=20 * 200).batch(channels_first=True)
        np.testing.assert_array_equal(self.epoch(data)[0].numpy(), coarse)
        data.set_fidelity(None)
        self.assertTrue(torch.equal(self.epoch(data, num_workers=1)[0], self.whole))
        for wrong in (0, -1):
            with self.assertRaisesRegex(ValueError, "fidelity, bytes an image, is 1 to"):
                data.set_fidelity(wrong)
            for kind, sizes in ((taper.torch.Batches, (64,)), (taper.torch.Images, ())):
                with self.assertRaisesRegex(ValueError, "fidelity, bytes an image, is 1 to"):
                    kind(self.path, *sizes, fidelity=wrong)

    def test_floats_crops_and_last_batches(self):
        data = taper.torch.Batches(self.path, 64, float32=True, mean=.5, std=.25, width=28, height=24, drop_last=True)
        images, labels = self.epoch(data)
        self.assertEqual((images.dtype, images.shape), (torch.float32, (192, 3, 24, 28)))
        there = (self.whole[labels][:, :, 4:28, 2:30] / 255 - .5) / .25
        self.assertTrue(torch.allclose(images, there, atol=1e-5))
        data = taper.torch.Batches(self.path, 200, width=40, height=20, crop="random", seed=1, channels_first=False)
        images, labels = self.epoch(data)
        self.assertEqual(images.shape, (200, 20, 40, 3))
        self.assertGreater(len({tuple(image[:, 0, 0].tolist()) for image in images[:9]}), 1)

    def test_length_is_that_of_all_workers(self):
        for options in ({}, {"shuffle": True, "mix": 2}):
            for drop_last in (False, True):
                data = taper.torch.Batches(self.path, 24, drop_last=drop_last, **options)
                for workers in (0, 3, 11):
                    loader = DataLoader(data, batch_size=None, num_workers=workers)
                    batches = list(loader)
                    sizes = [len(labels) for _, labels in batches]
                    self.assertEqual((len(sizes), len(loader)), (9 - drop_last,) * 2)
                    self.assertEqual(sorted(sizes), [24] * 8 if drop_last else [8] + [24] * 8)
                    self.assertEqual(len(set(torch.cat([labels for _, labels in batches]).tolist())), sum(sizes))

    def test_wrong_options(self):
        for wrong, error in ((2.5, TypeError), ("a", TypeError), (0, ValueError)):
            with self.assertRaisesRegex(error, "batch_size is"):
                taper.torch.Batches(self.path, wrong)
        for name, wrong, error in (("width", -3, ValueError), ("height", 0, ValueError), ("mix", 1.5, TypeError),
                                   ("channels", 7, ValueError), ("channels", 2, ValueError),
                                   ("threads", -1, ValueError),
                                   ("threads", .5, TypeError), ("seed", "a", TypeError),
                                   ("fidelity", .5, TypeError), ("mean", 0.5, ValueError), ("crop", 4, ValueError)):
            with self.assertRaisesRegex(error, name):
                taper.torch.Batches(self.path, 8, **{name: wrong})
        with self.assertRaisesRegex(ValueError, "mean is a number, or one for each of 3 channels"):
            taper.torch.Batches(self.path, 8, float32=True, mean=[.1, .2])
        for name, wrong, error in (("mean", "a", TypeError), ("mean", np.nan, ValueError), ("std", 1e-40, ValueError)):
            with self.assertRaisesRegex(error, name):
                taper.torch.Batches(self.path, 8, float32=True, **{name: wrong})
        with self.assertRaisesRegex(TypeError, "epoch"):
            taper.torch.Batches(self.path, 8).set_epoch(2.5)
        with self.assertRaisesRegex(ValueError, "no images"):
            taper.torch.Batches(taper.open(self.path)[0:0], 8)

    def test_single_images(self):
        data = taper.torch.Images(self.path)
        self.assertEqual(len(data), 200)
        for images, labels in DataLoader(data, batch_size=50, shuffle=True, num_workers=2):
            self.assertTrue(torch.equal(images, self.whole[labels]))


if __name__ == "__main__":
    unittest.main()
