"""taper.open and Set: a container as a sequence of NumPy arrays."""
from __future__ import annotations

import collections.abc
import ctypes as c
import functools

from . import _arrays
from . import _types as t
from ._errors import naming
from ._library import MOST_THREADS, lib, whole
from .sources import open_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, overload

    from ._hints import ArrayLike, Damaged, GivenModel, Image, Layout, NDArray, PerChannel, Source
    from .models import Model
    from .remote import RemoteContainer
    from .sources import Container

SCALES = (1, 2, 4, 8, 16)
LAYOUTS: tuple[Layout, ...] = ("set", "image", "gallery")
CORRUPT = 11


def open(source: Source, model: GivenModel | None = None, *, threads: int = 1, damaged: Damaged = "raise") -> Set:
    """Open a container, complete or cut.

    source: a path; `http://` and `https://` addresses, and those of fsspec, which are read by ranges; bytes; or a file
        object with read and seek.
    model: a Model, or the path of one, for containers that neither carry theirs nor were made with a built-in one.
    threads: processors that decode one image together; 0: all.
    damaged: "raise" Corrupt for an image whose data are damaged, or "keep" what is before the damage.

    Returns a Set. Raises Truncated, Corrupt, ModelMissing, ReadError.
    """
    from .models import given_model
    if damaged not in ("raise", "keep"):
        raise ValueError("damaged is 'raise' or 'keep', not %r" % (damaged,))
    threads = whole("threads", threads, 0, MOST_THREADS)
    held = given_model(model) if model is not None else None
    return Set(open_source(source, held), threads=threads, damaged=damaged)


class Set(collections.abc.Sequence["Image"]):
    """The images of a container, from 0: `s[i]`, `s["cat/1.png"]`, `s[3:9]`, `for image in s`.

    An image is an array of shape (height, width), or (height, width, channels), of uint8 or uint16. Slices and `at`
    make other sets, which share the file. Several threads may use a set at once. In order of numbers images are decoded
    fastest.
    """

    def __init__(self, container: Container | RemoteContainer, numbers: Sequence[int] | None = None, cut: int = 0,
                 passes: int = 0, threads: int = 1, damaged: Damaged = "raise") -> None:
        self._container, self._numbers = container, numbers
        self._cut, self._passes, self._threads, self._damaged = cut, passes, threads, damaged

    def _with(self, **changes: Any) -> Set:
        members: dict[str, Any] = {"numbers": self._numbers, "cut": self._cut, "passes": self._passes,
                                   "threads": self._threads, "damaged": self._damaged, **changes}
        return Set(self._container, **members)

    # --- what is there ---

    @functools.cached_property
    def _info(self) -> Any:
        info = t.ContainerInfo()
        with self._container.gate:
            lib.container_get_info(self._container.handle, c.addressof(info))
        return info

    @property
    def layout(self) -> Layout:
        """ "set", "image" or "gallery"."""
        return LAYOUTS[self._info.layout]

    @property
    def file_bytes(self) -> int:
        """Bytes of the complete file."""
        return self._info.file_bytes

    @property
    def front_bytes(self) -> int:
        """Bytes before the data of images: the shortest cut."""
        return self._info.front_bytes

    @property
    def bytes_read(self) -> int | None:
        """Bytes that came from the address so far, for all sets that share it; None: this is not at an address."""
        return getattr(self._container, "bytes_read", None)

    @functools.cached_property
    def classes(self) -> list[str]:
        """Names of the classes, by their numbers."""
        with self._container.gate:
            return [lib.container_class_name(self._container.handle, k).decode() for k in range(self._info.classes)]

    @functools.cached_property
    def names(self) -> list[str | None]:
        """[images] paths, or None for images without a name."""
        return [info[0].decode() if info[0] else None for info in self._listed]

    @functools.cached_property
    def labels(self) -> NDArray[Any]:
        """[images] an array of classes, int32; -1: none."""
        return _arrays.numpy().array([info[1] for info in self._listed], "int32")

    @functools.cached_property
    def _sizes(self) -> NDArray[Any]:
        """[images][2] widths and heights."""
        return _arrays.numpy().array([info[2:] for info in self._listed], "int64").reshape(-1, 2)

    @functools.cached_property
    def _listed(self) -> list[tuple[bytes | None, int, int, int]]:
        """Of each image: name, label, width and height."""
        info, listed = t.ImageInfo(), []
        with self._container.gate, naming(self._container.name):
            for i in self.numbers:
                self._container.fetch_front(i)
                lib.container_get_image(self._container.handle, i, c.addressof(info))
                listed.append((info.name, info.label, info.width, info.height))
        return listed

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers that the images have in the container."""
        return self._numbers if self._numbers is not None else range(self._info.images)

    def __len__(self) -> int:
        return len(self.numbers)

    def _number(self, i: int) -> int:
        if i < 0:
            i += len(self)
        if not 0 <= i < len(self):
            raise IndexError("image %d of a set of %d images, numbered from 0" % (i, len(self)) if len(self) else
                             "the set has no images")
        return self.numbers[i]

    def find(self, name: str) -> int:
        """The place of the image of a name. KeyError: there is none."""
        try:
            return self._places[name]
        except KeyError:
            raise KeyError("no image is named %r" % name) from None

    @functools.cached_property
    def _places(self) -> dict[str | None, int]:
        """Of each name, the first place; also of further names of equal images (`encode --dedup`)."""
        places = {name: k for k, name in reversed(list(enumerate(self.names)))}
        of_number = {number: k for k, number in enumerate(self.numbers)}
        for i in range(self._info.images, self._info.images + self._info.further_names):
            info = self._image_info(i)
            if info.same_as in of_number:
                places.setdefault(info.name.decode(), of_number[info.same_as])
        return places

    def info(self, i: int) -> dict[str, Any]:
        """Width, height, channels, depth, name, label and whether it is exact, of image i, without decoding it."""
        info = self._image_info(self._number(i))
        return {"width": info.width, "height": info.height, "channels": info.channels, "depth": info.depth,
                "name": info.name.decode() if info.name else None, "label": info.label,
                "is_exact": bool(info.is_exact), "is_drawing": bool(info.is_indexed)}

    def _image_info(self, number: int) -> Any:
        info = t.ImageInfo()
        with self._container.gate, naming(self._container.name):
            self._container.fetch_front(number)
            lib.container_get_image(self._container.handle, number, c.addressof(info))
        return info

    def groups(self) -> list[list[int]]:
        """Lists of the places of images that are decoded together."""
        return [list(group) for group in self._groups]

    @functools.cached_property
    def _groups(self) -> list[list[int]]:
        places = {number: place for place, number in enumerate(self.numbers)}
        first, count, listed = c.c_uint64(), c.c_uint64(), []
        for g in range(self._info.groups):
            with self._container.gate, naming(self._container.name):
                lib.container_group(self._container.handle, g, c.addressof(first), c.addressof(count))
                numbers = [lib.container_image_at(self._container.handle, first.value + k) for k in range(count.value)]
            listed.append([places[number] for number in numbers if number in places])
        return [group for group in listed if group]

    # --- images ---

    if TYPE_CHECKING:
        @overload
        def __getitem__(self, i: int | str) -> Image: ...
        @overload
        def __getitem__(self, i: slice) -> Set: ...

    def __getitem__(self, i: int | str | slice) -> Image | Set:
        if isinstance(i, slice):
            return self._with(numbers=self.numbers[i])
        if isinstance(i, str):
            i = self.find(i)
        return self.render(i)

    def render(self, i: int, scale: int = 1, crop: Sequence[int] | None = None, done: Any = None) -> Image:
        """Image i as an array.

        scale: 1, 2, 4, 8 or 16: at 1 / scale of its size, in less time; sizes are rounded up.
        crop: (x, y, width, height) in pixels of full size.
        done: a Completeness to fill, or None.
        """
        if scale not in SCALES:
            raise ValueError("a scale is 1, 2, 4, 8 or 16, not %r" % (scale,))
        number = self._number(i)
        info = self._image_info(number)
        with self._container.decoding(self, [number], scale) as decoder:
            if crop is None:
                x, y, width, height = 0, 0, info.width, info.height
            else:
                x, y, width, height = map(int, crop)
                if not (0 <= x < x + width <= info.width and 0 <= y < y + height <= info.height):
                    raise ValueError("a crop of %d x %d at (%d, %d) of an image of %d x %d" %
                                     (width, height, x, y, info.width, info.height))
            columns, rows = ((first + n - 1) // scale - first // scale + 1 for first, n in ((x, width), (y, height)))
            array, image = _arrays.empty(columns, rows, info.channels, info.depth)
            to, of = c.addressof(image), c.addressof(done) if done is not None else None
            allow = (CORRUPT,) if self._damaged == "keep" else ()
            if crop is not None:
                area = t.Crop(x=x, y=y, width=width, height=height)
                lib.decoder_render_crop(decoder, number, scale, c.addressof(area), to, of, allow=allow)
            else:
                lib.decoder_render_scaled(decoder, number, scale, to, of, allow=allow)
        return array

    def completeness(self, i: int) -> dict[str, Any]:
        """How much of image i this cut has: a dict of passes, passes_in_file, bytes and complete."""
        done = t.Completeness()
        self.render(i, done=done)
        return {"passes": done.passes, "passes_in_file": done.passes_in_file, "bytes": done.bytes,
                "complete": bool(done.complete), "exact_rows": done.exact_rows, "stages": done.stages}

    def thumbnail(self, i: int, size: int = 128) -> Image:
        """Image i, of at most size x size pixels, as uint8; decoded at the smallest scale that is not smaller."""
        if size < 1:
            raise ValueError("a thumbnail has at least 1 pixel, not %r" % (size,))
        info = self._image_info(self._number(i))
        longest, scale = max(info.width, info.height), 16
        while scale > 1 and longest < size * scale:
            scale //= 2
        array = self.render(i, scale=scale)
        if longest <= size:
            return _arrays.as_bytes(array)
        width, height = (max(1, round(side * size / longest)) for side in (info.width, info.height))
        return _arrays.scaled(array, width, height)

    def __iter__(self) -> Iterator[Image]:
        return (self[i] for i in range(len(self)))

    def at(self, *, bytes: float | None = None, bpp: float | None = None, psnr: float | None = None,
           passes: int | None = None) -> Set:
        """The same images as a shorter file would have them.

        bytes: of the file; bpp: bits per pixel of the file; psnr: the shortest cut whose mean PSNR against this set is
        so high, in dB, which decodes all images some ten times; passes: at most so many of each image, as in every
        layout.
        """
        if sum(value is not None for value in (bytes, bpp, psnr, passes)) != 1:
            raise TypeError("at takes one of bytes, bpp, psnr and passes")
        if any(value is not None and value < 0 for value in (bytes, bpp, passes)):
            raise ValueError("bytes, bpp and passes are not negative")
        if passes is not None:
            return self._with(passes=int(passes))
        cut = bytes or 0
        if psnr is not None:
            from .quality import cut_of_psnr
            cut = cut_of_psnr(self, psnr)
        if bpp is not None:
            cut = self._info.pixels * bpp / 8
        return self._with(cut=max(int(cut), self._info.front_bytes))

    # --- many images ---

    def batch(self, images: ArrayLike | None = None, *, width: int | None = None, height: int | None = None,
              scale: int = 1, crops: ArrayLike | None = None, channels: int = 3, float32: bool = False,
              mean: PerChannel = None, std: PerChannel = None, channels_first: bool = False,
              out: NDArray[Any] | None = None, threads: int | None = None) -> NDArray[Any]:
        """Crops of many images in one array, (n, height, width, channels), or (n, channels, height, width).

        images: places in this set; None: all. crops: [n][2] x and y of their upper left pixels, which may lie outside
        (the edge repeats); None: (0, 0). width, height: those of the first image by default. float32: values from 0 to
        1, then (value - mean) / std, where these are numbers or one a channel. out: an array to fill, contiguous.
        """
        from .batches import render_batch
        return render_batch(self, images, width=width, height=height, scale=scale, crops=crops, channels=channels,
                            float32=float32, mean=mean, std=std, channels_first=channels_first, out=out,
                            threads=threads)

    def codes(self, units: int | None = None, images: ArrayLike | None = None,
              passes: int | None = None) -> NDArray[Any] | list[NDArray[Any]]:
        """The first units of the codes of images, float32: (n, rows, columns, units), with a code for each window; or
        (n, units), if each image is one window; or a list of arrays (rows, columns, units), if they have several sizes.
        Values are on the scale of the model's input, 0 where nothing is known. Drawings have no codes: NaN in the
        array, no rows in the list."""
        from .batches import read_codes
        return read_codes(self, units, images, passes)

    @property
    def search_codes(self) -> NDArray[Any] | None:
        """[images][(bits + 63) / 64] uint64: the codes of bits that the container has for search; None: none."""
        from .batches import search_codes
        return search_codes(self)

    # --- the rest ---

    @functools.cached_property
    def model(self) -> Model:
        """The Model that decodes it."""
        from .models import Model
        with self._container.gate:
            return Model(lib.container_model(self._container.handle), keep=self._container)

    def close(self) -> None:
        """Close the file at once, rather than when no set of it is left. Waits for images that other threads decode;
        what they ask for next is a ValueError. While its `model` is in use, the file stays open."""
        self._container.close_all()

    def __enter__(self) -> Set:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __repr__(self) -> str:
        words = ["%d images" % len(self), "layout " + self.layout]
        if self._info.classes:
            words.append("%d classes" % self._info.classes)
        words.append("%d bytes" % self._info.file_bytes)
        if self._cut:
            words.append("cut to %d" % self._cut)
        if self._passes:
            words.append("%d passes" % self._passes)
        return "<taper.Set: %s>" % ", ".join(words)

    def _repr_html_(self) -> str:
        from .preview import contact_sheet
        return contact_sheet(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the file again. Sets of file objects cannot be sent."""
        if self._container.opened is None:
            raise TypeError("a set of a file object cannot be sent to another process; open it there by its path")
        return reopen, (self._container.opened, self._container.model, self._numbers, self._cut, self._passes,
                        self._threads, self._damaged)


def reopen(source: Source, model: Model | None, *members: Any) -> Set:
    return Set(open_source(source, model), *members)
