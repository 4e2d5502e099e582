"""Structs and functions of the package against the header: sizes, offsets, numbers of arguments."""
import ast
import ctypes
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import taper
from taper import _library, _types

ROOT = os.environ["ROOT"]
CLASSES = (value for value in vars(_types).values() if isinstance(value, type) and value is not _types.Struct)
STRUCTS = sorted({value.__name__: value for value in CLASSES if issubclass(value, _types.Struct)}.items())


def layout_by_compiler():
    lines = ['#include "codec/taper.h"', "#include <stdio.h>", "int main(void) {"]
    for name, struct in STRUCTS:
        lines.append('printf("%s . %%zu\\n", sizeof(%s));' % (name, name))
        lines += ['printf("%s %s %%zu\\n", offsetof(%s, %s));' % (name, member, name, member)
                  for member, *_ in struct._fields_]
    lines.append("}")
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "x.c"), os.path.join(folder, "x")
        with open(source, "w") as file:
            file.write("\n".join(lines))
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-I", ROOT, "-o", program, source], check=True)
        told = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {tuple(line.split()[:2]): int(line.split()[2]) for line in told.splitlines()}


class Types(unittest.TestCase):
    def test_structs_are_those_of_the_header(self):
        there = layout_by_compiler()
        self.assertGreater(len(there), 150)
        for name, struct in STRUCTS:
            self.assertEqual(there[name, "."], ctypes.sizeof(struct), name)
            for member, *_ in struct._fields_:
                self.assertEqual(there[name, member], getattr(struct, member).offset, (name, member))

    def test_functions_have_as_many_arguments_as_in_the_headers(self):
        text = ""
        for folder, _, files in os.walk(os.path.join(ROOT, "codec")):
            for name in files:
                if re.match(r"taper.*\.h$", name):
                    with open(os.path.join(folder, name)) as file:
                        text += re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        counted = {name: 0 if takes.strip() == "void" else takes.count(",") + 1
                   for name, takes in re.findall(r"TAPER_API[^;(]*?taper_(\w+)\(([^;]*?)\);", text)}
        self.assertGreater(len(counted), 90)
        for name, takes in _library.CHECKED.items():
            self.assertEqual(counted[name], len(takes) + 1, name)
        for name, (_, *takes) in _library.OTHER.items():
            self.assertEqual(counted[name], len(takes), name)

    def test_names_are_those_that_are_imported(self):
        with open(taper.__file__) as file:
            parsed = ast.walk(ast.parse(file.read()))
        imports = (node for node in parsed if isinstance(node, ast.ImportFrom) and node.level)
        imported = [name.name for node in imports for name in node.names]
        self.assertEqual(taper.__all__, sorted(imported))
        self.assertEqual(taper.__all__, sorted(taper._WHERE))
        for name in taper.__all__:
            self.assertTrue(callable(getattr(taper, name)), name)

    def test_importing_is_cheap(self):
        """What takes as long as the package itself is imported when it is needed."""
        late = "{'typing', 'numpy', 'PIL', 'torch', 'http.client', 'urllib.request', 'concurrent.futures'}"
        code = "import sys, taper; taper.open; print(*%s & set(sys.modules))" % late
        told = subprocess.run([sys.executable, "-S", "-c", code], check=True, capture_output=True, text=True).stdout
        self.assertEqual(told.strip(), "")


if __name__ == "__main__":
    unittest.main()
