"""taper.encode and Encoder: arrays in, one container out."""
from __future__ import annotations

import ctypes as c
import io
import os

from . import _arrays
from . import _types as t
from ._errors import naming
from ._library import choice, freed_with, lib, path, text, texts
from .models import Model, given_model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, BinaryIO

    from ._hints import ArrayLike, Drawings, GivenModel, Images, Layout, Path, Progress

LAYOUT = {"set": 0, "image": 1, "gallery": 2}
DRAWINGS = {"auto": 0, "exact": 1, "lossy": 2}
VISUAL_DB = 40.0
MOST_BPP = 1000
MOST_CLASSES = 1 << 20


class Encoder:
    """Add images one by one, then call finish. Memory does not grow with the set: codes wait in a temporary file.

    model: a Model, a path, or "photo" or "tiny". layout: "set", "image" or "gallery". quality: the PSNR at which each
    image ends, in dB; None: all that the model represents. bpp: bits per pixel at most. embed_model: the container
    carries the model. lossless: it ends with what makes every image equal to its original. threads: 0: one a processor.
    """

    def __init__(self, model: GivenModel = "photo", *, layout: Layout = "set", quality: float | None = None,
                 bpp: float | None = None, group_images: int = 0, embed_model: bool = False,
                 drawings: Drawings = "auto", lossless: bool = False, threads: int = 0) -> None:
        if bpp is not None and not 0 < bpp <= MOST_BPP:
            raise ValueError("bpp is above 0 and at most %d, not %r" % (MOST_BPP, bpp))
        if lossless and bpp is not None:
            raise ValueError("a lossless container has no limit of its size: cut it instead")
        if not 0 <= group_images <= 65536 or threads < 0:
            raise ValueError("group_images is 0 to 65536, threads 0 or more")
        self._model = given_model(model)
        file = self._model.file if embed_model else None
        options = t.EncodeOptions(
            layout=choice("layout", layout, LAYOUT), drawings=choice("drawings", drawings, DRAWINGS),
            group_images=group_images, lossless=lossless,
            target_bytes_per_megapixel=int(bpp * 125000) + 1 if bpp else 0, threads=threads or os.cpu_count() or 1,
            embed_model=embed_model, model_bytes=c.cast(c.c_char_p(file), c.c_void_p) if file else None,
            model_size=len(file) if file else 0)
        self._keep, out = file, c.c_void_p()
        lib.encoder_new(c.addressof(out), self._model.handle, c.addressof(options))
        self._handle, self.images, self.pixels = out.value, 0, 0
        self._lossless, self._most_label = lossless, -1
        self._classes: list[str] | None = None
        self._free = freed_with(self, lib.encoder_free, self._handle)
        if quality is not None:
            lib.encoder_set_aim(self._handle, float(quality))

    def add(self, image: ArrayLike, name: str | None = None, label: int | None = None) -> None:
        """Append an array of shape (height, width) or (height, width, channels), uint8 or uint16. It is copied."""
        struct, array = _arrays.image_of(image)
        label = -1 if label is None else int(label)
        if not -1 <= label < MOST_CLASSES:
            raise ValueError("a label is 0 to %d, or None, not %d" % (MOST_CLASSES - 1, label))
        lib.encoder_add(self._handle, c.addressof(struct), text(name, "a name") if name is not None else None, label)
        self._most_label = max(self._most_label, label)
        self.images, self.pixels = self.images + 1, self.pixels + struct.width * struct.height

    def set_classes(self, names: Iterable[str]) -> None:
        """The names of classes, by their numbers."""
        self._classes = list(names)

    def _store_classes(self) -> None:
        """Labels without names of classes get their numbers for names."""
        names = self._classes
        if names is None and self._most_label >= 0:
            names = ["%d" % k for k in range(self._most_label + 1)]
        if names is None:
            return
        if self._most_label >= len(names):
            raise ValueError("label %d of %d classes" % (self._most_label, len(names)))
        lib.encoder_set_classes(self._handle, texts(names, "classes"), len(names))

    def finish(self, to: Path | BinaryIO | None = None, max_bytes: int = 0) -> bytes | Any:
        """Write the container: to a path, which appears whole or not at all; to a file object; or return bytes.

        max_bytes: the most bytes of the container; 0: no limit. An interruption (Ctrl-C) takes effect when this has
        ended.
        """
        if max_bytes < 0 or max_bytes and self._lossless:
            raise ValueError("a limit of %d bytes; a lossless container has none: cut it instead" % max_bytes)
        self._store_classes()
        if isinstance(to, (str, os.PathLike)):
            with naming(os.path.abspath(os.fspath(to))):
                lib.encoder_finish_file(self._handle, int(max_bytes), path(to))
            return None
        kept = io.BytesIO()
        file: BinaryIO = kept if to is None else to
        failed: list[BaseException] = []

        @t.WRITE
        def write(_: object, data: int, n: int) -> int:
            try:
                file.write(c.string_at(data, n))
                return 0
            except BaseException as error:  # a call from C cannot raise
                failed.append(error)
                return 40

        sink = t.Sink(write=write)
        try:
            lib.encoder_finish(self._handle, int(max_bytes), c.addressof(sink))
        except Exception:
            if failed:
                raise failed[0] from None
            raise
        return kept.getvalue() if to is None else None


def encode(images: Images, to: Path | BinaryIO | None = None, *, model: GivenModel = "photo",
           names: Iterable[str | None] | None = None, labels: Iterable[int | None] | None = None,
           classes: Iterable[str] | None = None, layout: Layout = "set", quality: float | None = None,
           best: bool = False, bytes: int | None = None, bpp: float | None = None, progress: Progress | None = None,
           **options: Any) -> bytes | Any:
    """Encode arrays into one container: returns its bytes, or writes it `to` a path or a file object.

    images: any iterable of arrays (height, width) or (height, width, channels), or an array (n, ...) of them.
    names, labels, classes: of the images, and of the classes.
    bytes, bpp: the most bytes of the file, or bits per pixel. Without them each image ends at `quality`, 40 dB by
    default, or with `best` at all that the model represents. progress: called with the number of images so far.
    Other options are those of Encoder.
    """
    if quality is None and not best and bytes is None and bpp is None and not options.get("lossless"):
        quality = VISUAL_DB
    if isinstance(images, (str, os.PathLike)):
        raise TypeError("images are arrays, not a path: encode files and folders with the program taper")
    if bytes is not None and bytes <= 0:
        raise ValueError("bytes is above 0, not %r" % (bytes,))
    encoder = Encoder(model, layout=layout, quality=quality, bpp=bpp, **options)
    given: dict[str, list[Any]] = {
        what: list(values) for what, values in (("name", names), ("label", labels)) if values is not None}
    for k, image in enumerate(images):
        for what, values in given.items():
            if k >= len(values):
                raise ValueError("there are %d %ss, and more images" % (len(values), what))
        encoder.add(image, **{what: values[k] for what, values in given.items()})
        if progress:
            progress(k + 1)
    for what, values in given.items():
        if len(values) != encoder.images:
            raise ValueError("there are %d %ss for %d images" % (len(values), what, encoder.images))
    if classes is not None:
        encoder.set_classes(classes)
    return encoder.finish(to, bytes or (int(encoder.pixels * bpp / 8) if bpp else 0))
