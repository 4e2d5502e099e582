"""What each Python from 3.9 can run, without NumPy. tests/cli/python-versions.sh runs it with those that are here."""
import ast
import glob
import importlib
import os
import pickle
import sys
import threading
import unittest

import taper

FOLDER = os.path.dirname(taper.__file__)
OLDEST = (3, 9)
NEED_MORE = {"taper.torch", "taper.pillow", "taper._hints"}
REMOVED = {"ARRAY", "SetPointerType", "_pack_"}  # of ctypes: in 3.15, or with another meaning from 3.14 on


def sources():
    for path in [*glob.glob(FOLDER + "/*.py"), os.path.join(os.path.dirname(FOLDER), "build_wheel_of_taper.py")]:
        with open(path, encoding="utf-8") as file:
            yield os.path.basename(path), file.read()


class Versions(unittest.TestCase):
    def test_grammar_is_that_of_the_oldest(self):
        names = [name for name, _ in sources()]
        self.assertGreater(len(names), 15)
        for name, text in sources():
            tree = ast.parse(text, name, feature_version=OLDEST)
            nodes = list(ast.walk(tree))
            hinted = any(isinstance(node, ast.AnnAssign) or getattr(node, "returns", None) for node in nodes)
            self.assertTrue("from __future__ import annotations" in text or not hinted, name + ": hints are evaluated")
            used = {getattr(node, "attr", getattr(node, "id", None)) for node in nodes}
            self.assertFalse(used & REMOVED, name)

    def test_modules_are_imported(self):
        for name, _ in sources():
            name = "taper." + name[:-3]
            if name not in NEED_MORE and name[6:] not in ("__init__", "build_wheel_of_taper"):
                importlib.import_module(name)

    def test_container_without_numpy(self):
        with taper.open("three.taper") as images:
            self.assertEqual((len(images), images.layout, images.names[1]), (3, "set", "b.ppm"))
            info = images.info(2)
            self.assertEqual((info["width"], info["height"], info["channels"]), (24, 16, 3))
            self.assertEqual((images.find("c.ppm"), images.classes, images[1:].names), (2, [], ["b.ppm", "c.ppm"]))
            self.assertEqual(sorted(sum(images.groups(), [])), [0, 1, 2])
            self.assertEqual(pickle.loads(pickle.dumps(images.at(bytes=500))).names, images.names)
            self.assertGreater(images.model.units, 0)
            if "numpy" not in sys.modules:
                self.assertIn("3 images", repr(images))
        with open("three.taper", "rb") as file:
            self.assertEqual(taper.open(file).names, ["a.ppm", "b.ppm", "c.ppm"])
            file.seek(0)
            data = file.read()
        with self.assertRaises(taper.Truncated):
            taper.open(data[:40])

    def test_threads(self):
        """Of one set, with the interpreter lock or without."""
        images, wrong = taper.open("three.taper"), []
        read = {"names": lambda: images.names, "info": lambda: images.info(1)["name"],
                "find": lambda: images.find("b.ppm")}
        expected = {name: call() for name, call in read.items()}
        images = taper.open("three.taper")

        def run():
            for _ in range(50):
                wrong.extend(name for name, call in read.items() if call() != expected[name])

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
