"""Metrics of an image against its original, and the cut of a set for a PSNR."""
from __future__ import annotations

import ctypes as c

from . import _arrays
from . import _types as t
from ._library import lib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._hints import ArrayLike, Image
    from .containers import Set


def measure(image: ArrayLike, original: ArrayLike) -> dict[str, float]:
    """MSE, PSNR in dB, SSIM and MS-SSIM of two arrays of one size, on the 8-bit scale: a dict."""
    a, _held = _arrays.image_of(image)
    b, _also_held = _arrays.image_of(original)
    out = t.Quality()
    lib.quality_measure(c.addressof(a), c.addressof(b), c.addressof(out))
    return {"mse": out.mse, "psnr": out.psnr_db, "ssim": out.ssim, "ms_ssim": out.ms_ssim}


def mean_psnr(view: Sequence[Image], reference: Sequence[Image]) -> float:
    return sum(measure(image, whole)["psnr"] for image, whole in zip(view, reference)) / max(1, len(view))


def cut_of_psnr(view: Set, psnr: float) -> int:
    """The fewest bytes of the file whose images have this mean PSNR against those of `view`, within 1 percent."""
    reference = list(view)
    low, high = view.front_bytes, view._cut or view.file_bytes
    while high - low > max(16, low // 100):
        middle = (low + high) // 2
        if mean_psnr(view.at(bytes=middle), reference) >= psnr:
            high = middle
        else:
            low = middle
    return high
