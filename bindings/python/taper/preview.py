"""What a notebook shows of a set: a contact sheet of its first images, as one piece of HTML with PNG files in it."""
from __future__ import annotations

import base64
import html
import struct
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._hints import Image
    from .containers import Set

MOST, SIDE = 24, 96


def png(array: Image) -> bytes:
    """An array of uint8 as a PNG file."""
    height, width = array.shape[:2]
    channels = 1 if array.ndim == 2 else array.shape[2]
    rows = array.reshape(height, width * channels)
    data = b"".join(b"\0" + row.tobytes() for row in rows)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, (0, 4, 2, 6)[channels - 1], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data, 6)) + chunk(b"IEND", b"")


def figure(view: Set, i: int) -> str:
    name, image = view.info(i)["name"] or str(i), view.thumbnail(i, SIDE)
    times = max(1, SIDE // max(image.shape[:2]))  # small images are shown larger
    data = base64.b64encode(png(image)).decode()
    return ("<figure style='margin:2px;width:%dpx'><img alt='' title='%s' width=%d style='image-rendering:pixelated' "
            "src='data:image/png;base64,%s'>"
            "<figcaption style='overflow:hidden;white-space:nowrap;text-overflow:ellipsis;font-size:10px'>%s"
            "</figcaption></figure>"
            % (SIDE, html.escape(name, True), times * image.shape[1], data, html.escape(name)))


def contact_sheet(view: Set) -> str:
    figures = "".join(figure(view, i) for i in range(min(len(view), MOST)))
    rest = "<p>and %d more</p>" % (len(view) - MOST) if len(view) > MOST else ""
    return "<div><p>%s</p><div style='display:flex;flex-wrap:wrap;align-items:end'>%s</div>%s</div>" % (
        html.escape(repr(view)), figures, rest)
