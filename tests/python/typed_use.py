"""How a program uses the package, for a type checker. It is never run: tests/cli/python-types.sh."""
from __future__ import annotations

import io
import os
import pathlib
from typing import Any

import numpy as np
import taper
from numpy.typing import NDArray


def read(path: pathlib.Path) -> NDArray[np.uint8]:
    with taper.open(path, threads=2, damaged="keep") as images:
        part: taper.Set = images[3:9].at(bytes=100_000)
        image: NDArray[Any] = part["cat/1.png"]
        names: list[str | None] = images.names
        sizes = [(info["width"], info["height"]) for info in map(images.info, range(len(images)))]
        print(names, sizes, image.shape, images.render(2, crop=(1, 2, 3, 4)).dtype, images.model.units + 1)
        batch: NDArray[Any] = images.batch([1, 2], width=32, height=32, float32=True, mean=[.4, .5, .6], std=.25)
    for whole in taper.open(io.BytesIO(b"")):
        print(whole.shape)
    return batch


def write(images: list[NDArray[np.uint8]]) -> None:
    data: bytes = taper.encode(images, names=["a.png"], labels=[None], layout="gallery", progress=print)
    print(len(taper.open(data)), taper.measure(images[0], images[1])["psnr"] > 30)
    encoder = taper.Encoder(taper.Model.builtin("tiny"), quality=36)
    encoder.add(images[0], "a.png", 3)
    encoder.finish(os.path.join("a", "b.taper"), max_bytes=1000)
    index = taper.Index.build(taper.pack_bits(taper.embed(images, "a.tpm")), "x.tpx", labels=range(3))
    print(taper.embed(images).shape, taper.Model.builtin("search").units)
    print(len(taper.Index(["x.tpx", "y.tpx"]).paths))
    found, distances = index.nearest(index.code(0), 3, recall=1)
    print(found[0], distances[0], taper.train("folder", "own.tpm", window=8).report["images"])


def wrong(image: NDArray[np.uint8]) -> None:
    taper.open(5)  # type: ignore[arg-type]
    taper.open("a", damaged="drop")  # type: ignore[arg-type]
    taper.open("a", thread=2)  # type: ignore[call-arg]
    number: int = taper.open("a")[0]  # type: ignore[assignment]
    taper.open("a").at(100)  # type: ignore[misc]
    taper.open("a").labelled  # type: ignore[attr-defined]
    taper.encode([image], layout="heap")  # type: ignore[arg-type]
    taper.encode([image], names=[5])  # type: ignore[list-item]
    taper.Encoder().add(image, 3)  # type: ignore[arg-type]
    taper.decode("a")  # type: ignore[attr-defined]
    print(number)
