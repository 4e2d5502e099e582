"""Builds the wheel of the package `taper`, with the library and the program that `make` built, if they are there.

A build backend of PEP 517 that needs nothing but Python: `pip install bindings/python` works without a network. Without
build/opt/libtaper.so the wheel has no library: the package then loads that of the system. As a program,
`python3 build_wheel_of_taper.py FOLDER`, it writes the wheel into the folder and prints its path.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILT = os.environ.get("TAPER_BUILD", os.path.join(ROOT, "build", "opt"))
BINARIES = {"libtaper.so": "taper/libtaper.so.1", "taper": "taper/taper-program"}


def version():
    with open(os.path.join(HERE, "taper", "__init__.py"), encoding="utf-8") as file:
        return re.search(r'^__version__ = "(.*)"', file.read(), re.M).group(1)


def binaries():
    """[path in the wheel] -> path here."""
    paths = {inside: os.path.join(BUILT, name) for name, inside in BINARIES.items()}
    return {inside: path for inside, path in paths.items() if os.path.exists(path)}


def tag(has_binaries):
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform()) if has_binaries else "any"
    return "py3-none-" + platform


def metadata(of):
    return ("Metadata-Version: 2.1\nName: taper\nVersion: %s\n"
            "Summary: Sets of images in one file that can be cut at any byte\n"
            "Requires-Python: >=3.9\nProvides-Extra: arrays\nRequires-Dist: numpy; extra == 'arrays'\n" % of)


def sources():
    folder = os.path.join(HERE, "taper")
    names = sorted(name for name in os.listdir(folder) if name.endswith((".py", ".typed")))
    return {"taper/" + name: os.path.join(folder, name) for name in names}


class Wheel:
    def __init__(self, path):
        self._zip, self._record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def _store(self, name, data, mode):
        """The same bytes give the same wheel: files have no date."""
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, data)

    def add(self, name, data, mode=0o644):
        self._store(name, data, mode)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append("%s,sha256=%s,%d" % (name, digest, len(data)))

    def close(self, folder):
        name = folder + "/RECORD"
        self._store(name, "\n".join(self._record + [name + ",,", ""]).encode(), 0o644)
        self._zip.close()


def write(directory, files, has_binaries):
    """files: [path in the wheel] -> (bytes, mode). Returns the name of the wheel."""
    of = version()
    name, folder = "taper-%s-%s.whl" % (of, tag(has_binaries)), "taper-%s.dist-info" % of
    wheel = Wheel(os.path.join(directory, name))
    for path, (data, mode) in files.items():
        wheel.add(path, data, mode)
    wheel.add(folder + "/METADATA", metadata(of).encode())
    wheel.add(folder + "/WHEEL", ("Wheel-Version: 1.0\nGenerator: taper\nRoot-Is-Purelib: %s\nTag: %s\n" % (
        "false" if has_binaries else "true", tag(has_binaries))).encode())
    wheel.close(folder)
    return name


def read(path):
    with open(path, "rb") as file:
        return file.read()


def stripped(path):
    """A program or library without its debug information; as it is, where no `strip` takes it."""
    strip = shutil.which(os.environ.get("STRIP", "strip"))
    if strip:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "stripped")
            if subprocess.run([strip, "--strip-unneeded", "-o", out, path], capture_output=True).returncode == 0:
                return read(out)
    return read(path)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {name: (read(path), 0o644) for name, path in sources().items()}
    files.update({name: (stripped(path), 0o755) for name, path in binaries().items()})
    return write(wheel_directory, files, bool(binaries()))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write(wheel_directory, {"taper.pth": (HERE.encode() + b"\n", 0o644)}, False)


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("build from a checkout of the project")


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
