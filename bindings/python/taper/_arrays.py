"""NumPy arrays and images of the library share memory: rows from top to bottom, interleaved channels.

Shapes: (height, width) grey, (height, width, 2) grey and alpha, (height, width, 3) RGB, (height, width, 4) RGB and
alpha; uint8, or uint16 over the full range.
"""
from __future__ import annotations

import ctypes as c
import os

from . import _types as t

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._hints import ArrayLike, Image, NDArray


def numpy() -> Any:
    """Imported late, as it takes ten times as long as this package."""
    try:
        import numpy as module
    except ImportError as error:
        raise ImportError("images are NumPy arrays: install numpy (Debian: python3-numpy)") from error
    return module


def empty(width: int, height: int, channels: int, depth: int) -> tuple[Image, Any]:
    """An array for an image, and the struct that describes it."""
    np = numpy()
    shape = (height, width) if channels == 1 else (height, width, channels)
    array = np.empty(shape, np.uint8 if depth == 8 else np.uint16)
    return array, t.Image(width=width, height=height, channels=channels, depth=depth, pixels=array.ctypes.data)


def image_of(array: ArrayLike) -> tuple[Any, Image]:
    """The struct of an array; returns (struct, array), where the array is a copy only if it was not contiguous."""
    np = numpy()
    if isinstance(array, (str, os.PathLike)):
        raise TypeError("an image is an array, not the path %s: read it, with Pillow for example, or encode files with "
                        "the program taper" % os.fspath(array))
    pixels = np.asarray(array)
    if pixels.dtype == bool:
        pixels = pixels.astype(np.uint8) * 255
    if pixels.dtype not in (np.uint8, np.uint16):
        raise TypeError("pixels are uint8 or uint16, not %s: scale and convert them" % pixels.dtype)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or not 1 <= pixels.shape[2] <= 4 or 0 in pixels.shape:
        raise ValueError("an image is (height, width) or (height, width, 1 to 4 channels), not %s" % (pixels.shape,))
    pixels = np.ascontiguousarray(pixels, pixels.dtype.newbyteorder("="))
    height, width, channels = pixels.shape
    return t.Image(width=width, height=height, channels=channels, depth=8 * pixels.itemsize,
                   pixels=pixels.ctypes.data), pixels


def pointer(array: NDArray[Any] | None) -> c.c_void_p | None:
    return array.ctypes.data_as(c.c_void_p) if array is not None else None


def as_bytes(array: Image) -> Image:
    """uint16 rounded to uint8, as the library does; uint8 as it is."""
    return array if array.dtype == "uint8" else ((array.astype("uint32") + 128) // 257).astype("uint8")


def scaled(array: Image, width: int, height: int) -> Image:
    """Each pixel is the mean of the area that it covers. uint8."""
    from ._library import lib
    np = numpy()
    array = as_bytes(array)
    channels = 1 if array.ndim == 2 else array.shape[2]
    if channels in (2, 4):  # the library scales colours alone
        colours = array[..., :-1] if channels == 4 else array[..., 0]
        return np.dstack((scaled(colours, width, height), scaled(array[..., -1], width, height)))
    image, array = image_of(array)
    out = t.Image()
    lib.image_scale(c.addressof(image), width, height, c.addressof(out))
    try:
        shape = (height, width) if channels == 1 else (height, width, channels)
        return np.frombuffer(c.string_at(out.pixels, width * height * channels), np.uint8).reshape(shape)
    finally:
        lib.image_free(c.addressof(out))
