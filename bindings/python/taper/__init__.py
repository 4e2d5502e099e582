"""taper: sets of images in one file that can be cut at any byte.

    import taper
    photos = taper.open("photos.taper")         # a path, an address, bytes, a file object
    image = photos[3]                           # a NumPy array (height, width, 3), uint8
    coarse = photos.at(bytes=100_000)[3]        # as the first 100,000 bytes of the file have it
    taper.encode(images, "set.taper")           # arrays in, one file out

Functions and classes are imported when they are first used. Errors are subclasses of TaperError.
"""
from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` costs some 5 ms
if TYPE_CHECKING:
    from ._errors import (AboveLimit, ArgumentError, Corrupt, DeviceError, Exists, ModelMissing, NewerVersion,
                          OutOfMemory, ReadError, TaperError, Truncated, Unsupported)
    from .containers import Set, open
    from .encoding import Encoder, encode
    from .models import Model, embed
    from .programs import compare, train, train_bits, train_labels
    from .quality import measure
    from .searching import Index, pack_bits

_WHERE = {
    "open": "containers", "Set": "containers", "encode": "encoding", "Encoder": "encoding", "Model": "models",
    "embed": "models", "Index": "searching", "pack_bits": "searching", "train": "programs", "train_bits": "programs",
    "train_labels": "programs", "compare": "programs",
    "measure": "quality",
    **dict.fromkeys(("TaperError", "ArgumentError", "OutOfMemory", "Truncated", "Corrupt", "NewerVersion", "AboveLimit",
                     "ModelMissing", "Unsupported", "DeviceError", "ReadError", "Exists"), "_errors"),
}
__all__ = [
    "AboveLimit", "ArgumentError", "Corrupt", "DeviceError", "Encoder", "Exists", "Index", "Model", "ModelMissing",
    "NewerVersion", "OutOfMemory", "ReadError", "Set", "TaperError", "Truncated", "Unsupported", "compare", "embed",
    "encode", "measure", "open", "pack_bits", "train", "train_bits", "train_labels"]
__version__ = "1.0.0"


if not TYPE_CHECKING:  # they would take every name for one of the package
    def __getattr__(name):
        if name not in _WHERE:
            raise AttributeError("module 'taper' has no attribute %r" % name)
        value = getattr(importlib.import_module("." + _WHERE[name], __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
