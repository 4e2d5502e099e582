"""`import taper.pillow`: then Image.open of Pillow, and what uses it, opens containers; `seek` goes to other images."""
from __future__ import annotations

from PIL import Image, ImageFile

from . import _arrays, containers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAGIC = b"\x89TPR\r\n\x1a\n"
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


class TaperImageFile(ImageFile.ImageFile):
    """Image 0 of a container, 8 bits a sample; Image.seek(i) for the others."""

    format, format_description = "TAPER", "container of taper"

    def _open(self) -> None:
        self._images = containers.open(self.fp)
        self.n_frames, self.is_animated = len(self._images), len(self._images) > 1
        self.seek(0)

    def seek(self, frame: int) -> None:
        try:
            info = self._images.info(frame)
        except IndexError:
            raise EOFError("the container has %d images" % self.n_frames) from None
        self._frame, self._rendered = frame, False
        self._size = info["width"], info["height"]
        mode = MODES[info["channels"]]
        if hasattr(self, "_mode"):
            self._mode = mode
        else:  # Pillow before 10.1
            self.mode = mode
        self.info = {"name": info["name"]} if info["name"] else {}

    def tell(self) -> int:
        return self._frame

    def load(self) -> Any:
        if not self._rendered:
            self.im = Image.fromarray(_arrays.as_bytes(self._images[self._frame]), self.mode).im
            self._rendered = True
        return Image.Image.load(self)


Image.register_open(TaperImageFile.format, TaperImageFile, lambda prefix: prefix[:8] == MAGIC)
Image.register_extension(TaperImageFile.format, ".taper")
