"""Many images in one array, and codes of images; see Set.batch and Set.codes."""
from __future__ import annotations

import ctypes as c

from . import _arrays
from . import _types as t
from ._library import MOST_THREADS, lib, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._hints import NDArray
    from .containers import Set

CORRUPT = 11


def checked_channels(channels: int) -> int:
    """1 for grey, or 3 for RGB."""
    if whole("channels", channels, 1, 3) == 2:
        raise ValueError("channels is 1 for grey or 3 for colours, not 2")
    return channels


def numbers_of(view: Set, images: Any) -> Any:
    np = _arrays.numpy()
    if images is None:
        return np.fromiter(view.numbers, np.uint64, len(view))
    places = np.asarray(images)
    if places.dtype == bool:
        places = np.flatnonzero(places)
    return np.array([view._number(int(place)) for place in places.ravel()], np.uint64)


def items_of(numbers: Any, crops: Any) -> NDArray[Any]:
    np = _arrays.numpy()
    items = np.zeros(len(numbers), np.dtype([("image", np.uint64), ("x", np.int32), ("y", np.int32)]))
    items["image"] = numbers
    if crops is not None:
        crops = np.asarray(crops).reshape(len(numbers), 2)
        if not np.isfinite(crops).all() or (abs(crops) >= 2**31).any():
            raise ValueError("crops are pairs of numbers of pixels")
        items["x"], items["y"] = crops.T
    return items


def array_for(out: NDArray[Any] | None, shape: tuple[int, ...], float32: bool) -> NDArray[Any]:
    np = _arrays.numpy()
    kind = np.float32 if float32 else np.uint8
    if out is None:
        return np.empty(shape, kind)
    if out.shape != shape or out.dtype != kind or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError("out is a contiguous, writeable array of shape %s and type %s, not %s, %s" %
                         (shape, np.dtype(kind), out.shape, out.dtype))
    return out


def strides_of(width: int, height: int, channels: int, channels_first: bool, item: int) -> tuple[int, int, int, int]:
    """From an image, a channel, a row and a column to the next, in bytes."""
    image = item * width * height * channels
    if channels_first:
        return image, item * width * height, item * width, item
    return image, item, item * width * channels, item * channels


def gains_of(mean: Any, std: Any, channels: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """[channels] gain and offset of (value - mean) / std."""
    np = _arrays.numpy()
    try:
        mean, std = (np.asarray(neutral if value is None else value, np.float64)
                     for value, neutral in ((mean, 0), (std, 1)))
    except (TypeError, ValueError):
        raise TypeError("mean and std are numbers, not %r and %r" % (mean, std)) from None
    for what, values in (("mean", mean), ("std", std)):
        if values.shape not in ((), (1,), (channels,)):
            raise ValueError("%s is a number, or one for each of %d channels, not %s" %
                             (what, channels, values.tolist()))
    mean, std = np.broadcast_to(mean, channels), np.broadcast_to(std, channels)
    if not (std > 0).all():
        raise ValueError("std is above 0")
    with np.errstate(all="ignore"):
        gain, offset = (1 / std).astype(np.float32), (-mean / std).astype(np.float32)
    if not (np.isfinite(gain) & np.isfinite(offset) & (gain > 0)).all():
        raise ValueError("mean and std are numbers of the scale of values, 0 to 1, not %s and %s" %
                         (mean.tolist(), std.tolist()))
    return gain, offset


def render_batch(view: Set, images: Any, *, width: int | None, height: int | None, scale: int,
                 crops: Any, channels: int, float32: bool, mean: Any, std: Any,
                 channels_first: bool, out: NDArray[Any] | None, threads: int | None) -> NDArray[Any]:
    numbers = numbers_of(view, images)
    if width is None or height is None:
        first = view._image_info(int(numbers[0])) if len(numbers) else t.ImageInfo(width=1, height=1)
        width = (first.width - 1) // scale + 1 if width is None else width
        height = (first.height - 1) // scale + 1 if height is None else height
    width, height = whole("width", width), whole("height", height)
    channels = checked_channels(channels)
    one = (channels, height, width) if channels_first else (height, width, channels)
    to = array_for(out, (len(numbers), *one), float32)
    if not len(numbers):
        return to
    items = items_of(numbers, crops)
    if (mean is not None or std is not None) and not float32:
        raise ValueError("mean and std are of float32=True")
    gain, offset = gains_of(mean, std, channels) if float32 else (None, None)
    batch = t.Batch(item=_arrays.pointer(items), n=len(items), width=width, height=height, scale=scale,
                    channels=channels, sample=int(float32), to=_arrays.pointer(to), gain=_arrays.pointer(gain),
                    offset=_arrays.pointer(offset))
    (batch.image_stride, batch.channel_stride, batch.row_stride, batch.column_stride) = strides_of(
        width, height, channels, channels_first, to.itemsize)
    asked = view if threads is None else view._with(threads=whole("threads", threads, 0, MOST_THREADS))
    with view._container.decoding(asked, numbers, scale) as decoder:
        lib.decoder_render_batch(decoder, c.addressof(batch), allow=(CORRUPT,) if view._damaged == "keep" else ())
    return to


def read_codes(view: Set, units: int | None, images: Any, passes: int | None) -> NDArray[Any] | list[NDArray[Any]]:
    np = _arrays.numpy()
    units = units or view.model.units
    listed: list[NDArray[Any]] = []
    allow = (CORRUPT,) if view._damaged == "keep" else ()
    for number in numbers_of(view, images).tolist():
        info = view._image_info(number)
        values = np.empty((info.rows, info.columns, units), np.float32)
        if values.size:  # drawings have no codes
            with view._container.decoding(view, [number]) as decoder:
                lib.decoder_codes(decoder, number, units, 2**32 - 1 if passes is None else passes,
                                  _arrays.pointer(values), None, None, allow=allow)
        listed.append(values)
    grids = {values.shape for values in listed if values.size}
    if len(grids) > 1:
        return listed
    one = grids.pop() if grids else (1, 1, units)
    none = np.full(one, np.nan, np.float32)
    stacked = np.stack([values if values.size else none for values in listed]) if listed else none[:0]
    return stacked.reshape(len(listed), units) if one[:2] == (1, 1) else stacked


def search_codes(view: Set) -> NDArray[Any] | None:
    np = _arrays.numpy()
    bits = view._info.search_bits
    if not bits:
        return None
    codes = np.empty((len(view), (bits + 63) // 64), np.uint64)
    for k, number in enumerate(view.numbers):
        with view._container.gate:
            view._container.fetch_front(number)
            lib.container_search_code(view._container.handle, number, codes[k:].ctypes.data)
    return codes
