"""Containers at addresses: the pixels, how many requests, and servers that misbehave (tests/remote_server.py)."""
import http.client
import json
import multiprocessing
import os
import subprocess
import sys
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request
import warnings

import numpy as np
import taper
from taper import remote

ROOT = os.environ["ROOT"]
FOLDER = os.environ.get("SCRATCH", os.getcwd())


class Memory:
    """The ranges of bytes."""
    address, bytes_read = "memory", 0

    def __init__(self, data):
        self.data, self.size = data, len(data)

    def read(self, offset, size):
        return self.data[offset:offset + size]


class Remote(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        random = np.random.default_rng(3)
        y, x = np.mgrid[:96, :128]
        images = [(np.stack([x, y, x + y], -1) * k / 4 + random.integers(0, 30, (96, 128, 3))).astype(np.uint8)
                  for k in range(1, 9)]
        cls.path = os.path.join(FOLDER, "remote.taper")
        cls.originals = images
        taper.encode(images, cls.path, names=["%d.png" % k for k in range(8)], layout="gallery", best=True)
        cls.images = taper.open(cls.path)
        port = os.path.join(FOLDER, "port")
        if os.path.exists(port):
            os.remove(port)
        cls.server = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/remote_server.py"), cls.path, port])
        number = ""
        while not number:
            time.sleep(0.02)
            if os.path.exists(port):
                with open(port) as file:
                    number = file.read().strip()
        cls.address = "http://127.0.0.1:" + number

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()
        cls.server.wait()

    def requests(self, path):
        with urllib.request.urlopen(self.address + "/count" + path) as answer:
            return int(json.loads(answer.read().decode()))

    def same(self, path):
        images = taper.open(self.address + path)
        self.assertEqual(images.names, self.images.names)
        for i in (6, 0, 3):
            np.testing.assert_array_equal(images[i], self.images[i])
        half = self.images.file_bytes // 2
        np.testing.assert_array_equal(images.at(bytes=half)[7], self.images.at(bytes=half)[7])
        np.testing.assert_array_equal(images.batch([1, 5]), self.images.batch([1, 5]))
        np.testing.assert_array_equal(images.thumbnail(2, 30), self.images.thumbnail(2, 30))

    def test_ranges(self):
        self.same("/plain/a.taper")
        images = taper.open(self.address + "/plain/b.taper")
        self.assertEqual(self.requests("/plain/b.taper"), 1)
        images[5]
        self.assertEqual(self.requests("/plain/b.taper"), 2)
        images[5]
        self.assertEqual(self.requests("/plain/b.taper"), 2)

    def test_bytes_read(self):
        self.assertIsNone(self.images.bytes_read)
        images = taper.open(self.address + "/plain/e.taper")
        opened = images.bytes_read
        self.assertEqual(opened, remote.FIRST)
        few = images.at(bytes=self.images.file_bytes // 2)
        list(few)
        self.assertEqual(few.bytes_read, self.images.file_bytes // 2)
        list(images)
        self.assertEqual(images.bytes_read, self.images.file_bytes)
        whole = taper.open(self.address + "/whole/e.taper")
        self.assertEqual(whole.bytes_read, self.images.file_bytes)

    def test_front_matter_is_planned_once(self):
        """Planning it sets another cut, by which the decoder forgets the groups that it has decoded."""
        images = taper.open(self.address + "/plain/f.taper")
        with unittest.mock.patch.object(remote.lib, "decoder_plan") as plan:
            for _ in range(2):
                images[5], images.info(5), images.names
        plan.assert_not_called()

    def test_forked_processes(self):
        """The threads that fetch are not there after a fork."""
        images = taper.open(self.address + "/plain/f.taper")
        images[0]
        process = multiprocessing.get_context("fork").Process(
            target=lambda: np.testing.assert_array_equal(images[5], self.images[5]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12 on, where there are threads
            process.start()
        process.join(60)
        ended = process.exitcode
        process.kill()
        process.join()
        self.assertEqual(ended, 0)
        np.testing.assert_array_equal(images[5], self.images[5])

    def test_cuts_within_the_model(self):
        """Parts of the model behind a cut are not used for it, whatever was read before."""
        path, model = (os.path.join(FOLDER, "parts" + end) for end in (".taper", ".tpm"))
        if not os.path.exists(model):
            taper.train(self.originals, model, window=8, conditional=8, predict_epochs=1, quick=True)
        taper.encode(self.originals, path, model=model, embed_model=True, layout="gallery")  # several groups
        with open(path, "rb") as file:
            data = file.read()
        whole = taper.open(path)
        self.assertGreater(whole.completeness(0)["stages"], whole.at(bytes=whole.front_bytes).completeness(0)["stages"])
        images = taper.Set(remote.RemoteContainer(Memory(data), None))
        for cut in range(whole.front_bytes, len(data) // 2, len(data) // 40):
            for i in (3, 0):
                np.testing.assert_array_equal(images[i], whole[i])
                np.testing.assert_array_equal(images.at(bytes=cut)[i], whole.at(bytes=cut)[i])
        images.close()

    def test_servers_that_are_survived(self):
        remote.Http.SECONDS = 5
        for how in ("whole", "whole-later", "shorter", "chunked", "ends-early", "longer", "busy-twice", "drops-twice"):
            with self.subTest(how):
                self.same("/%s/c.taper" % how)

    def test_whole_files_are_read_in_pieces(self):
        """Python 3.9 takes as much memory as it is asked to read."""
        with unittest.mock.patch.object(http.client.HTTPResponse, "read", autospec=True,
                                        side_effect=http.client.HTTPResponse.read) as read:
            self.same("/whole/pieces.taper")
        self.assertLessEqual(max(call.args[1] for call in read.call_args_list), 1 << 20)

    def test_servers_that_are_told(self):
        remote.Http.SECONDS = 5
        for how in ("whole-ends-early", "whole-endless", "compressed", "changes", "grows", "dated", "ends-at-once",
                    "other-range", "no-length", "huge-length", "no-range", "nonsense-range", "multipart", "busy",
                    "status/404", "status/403", "empty", "loop"):
            with self.subTest(how):
                with self.assertRaises(taper.ReadError) as caught:
                    list(taper.open("%s/%s/d.taper" % (self.address, how)))
                self.assertIn("d.taper: ", str(caught.exception))
                if isinstance(caught.exception.__cause__, urllib.error.HTTPError):
                    self.assertTrue(caught.exception.__cause__.closed)
        with self.assertRaises(taper.ReadError):
            taper.open("http://127.0.0.1:9/none.taper")

    def test_fsspec(self):
        import fsspec
        fsspec.filesystem("memory").put(self.path, "/x/y.taper")
        images = taper.open("memory://x/y.taper")
        np.testing.assert_array_equal(images[4], self.images[4])


if __name__ == "__main__":
    unittest.main()
