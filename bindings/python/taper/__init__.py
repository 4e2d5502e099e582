"""taper: sets of images in one file that can be cut at any byte.

    import taper
    photos = taper.open("photos.taper")         # a path, an address, bytes, a file object
    image = photos[3]                           # a NumPy array (height, width, 3), uint8
    coarse = photos.at(bytes=100_000)[3]        # as the first 100,000 bytes of the file have it
    taper.encode(images, "set.taper")           # arrays in, one file out

Functions and classes are imported when they are first used. Errors are subclasses of TaperError.
"""
import importlib

_WHERE = {
    "open": "containers", "Set": "containers", "encode": "encoding", "Encoder": "encoding", "Model": "models",
    "embed": "models", "Index": "searching", "pack_bits": "searching", "train": "programs", "train_bits": "programs",
    "train_labels": "programs", "compare": "programs",
    "measure": "quality",
    **dict.fromkeys(("TaperError", "ArgumentError", "OutOfMemory", "Truncated", "Corrupt", "NewerVersion", "AboveLimit",
                     "ModelMissing", "Unsupported", "DeviceError", "ReadError", "Exists"), "_errors"),
}
__all__ = sorted(_WHERE)
__version__ = "1.0.0"


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError("module 'taper' has no attribute %r" % name)
    value = getattr(importlib.import_module("." + _WHERE[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(__all__))
