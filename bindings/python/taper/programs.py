"""taper.train, train_bits, train_labels and compare: the verbs of the program `taper`, with arrays or paths."""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import threading

from . import _arrays
from ._errors import TaperError
from .models import Model
from .preview import png

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from ._hints import Path, Pictures, Told


def program() -> str:
    """The program that TAPER_PROGRAM names, that of the package, or that of the PATH."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "taper-program")
    found = os.environ.get("TAPER_PROGRAM") or (beside if os.path.exists(beside) else shutil.which("taper"))
    if not found:
        raise ImportError("the program `taper` is not installed: put it on the PATH, or name it in the environment "
                          "variable TAPER_PROGRAM")
    return found


def name_of(model: Model) -> str:
    """What the program calls a Model: the path of its file, or the name of a built-in one."""
    if not isinstance(model._opened, str):
        raise ValueError("the program reads models from files: give the path of one")
    return model._opened[len("builtin:"):] if model._opened.startswith("builtin:") else model._opened


def switches(options: Mapping[str, Any]) -> list[str]:
    """window=8, quick=True, from_="photo" to --window 8 --quick --from photo: `from` is a word of Python."""
    listed = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        listed.append("--" + name.rstrip("_").replace("_", "-"))
        if isinstance(value, Model):
            value = name_of(value)
        if value is not True:
            listed.append(",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
    return listed


@contextlib.contextmanager
def as_paths(images: Any) -> Iterator[list[str]]:
    """A list of paths: those given, or those of PNG files of the arrays, which are removed afterwards."""
    if isinstance(images, (str, os.PathLike)):
        yield [os.fspath(images)]
        return
    images = list(images)
    if images and all(isinstance(image, (str, os.PathLike)) for image in images):
        yield [os.fspath(image) for image in images]
        return
    with tempfile.TemporaryDirectory(prefix="taper-") as folder:
        for k, image in enumerate(images):
            with open(os.path.join(folder, "%08d.png" % k), "wb") as file:
                file.write(png(_arrays.as_bytes(_arrays.image_of(image)[1])))
        yield [folder]


def run(verb: str, arguments: Iterable[str], progress: Told | None) -> list[Any]:
    """The objects of JSON that a verb prints. Interrupted, it ends the program and waits for it."""
    command = [program(), verb, "--json", *([] if progress else ["--quiet"]), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = []

        def listen() -> None:
            for line in process.stderr or ():
                said.append(line.rstrip())
                if progress:
                    progress(said[-1])

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        try:
            told = [json.loads(line) for line in process.stdout or ()]
            process.wait()
        except BaseException:
            process.terminate()
            raise
        finally:
            listener.join(10)
    if process.returncode:
        raise TaperError("\n".join(said[-3:]) or "taper %s ended with %d" % (verb, process.returncode))
    return told


def train(images: Pictures, to: Path, *, progress: Told | None = None, **options: Any) -> Model:
    """Train a model on images and write it `to` a path: returns the Model. Its `report` is what the program told.

    images: arrays, or paths of files and folders. progress: called with each line that the program says. Options are
    those of `taper train --help-all`, as train(images, "my.tpm", window=8, quick=True, seed=3, force=True). An
    interruption (Ctrl-C) ends the program; with `checkpoint` and `resume` it goes on.
    """
    return trained("train", images, to, progress, options)


def train_bits(images: Pictures, to: Path, *, labels: Path | Iterable[int] | None = None,
               progress: Told | None = None, **options: Any) -> Model:
    """Train a model of bits, for search: as `train`, with the options of `taper train-bits --help-all`.

    train_bits(images, "bits.tpm", window="whole", units=256, independent=True) makes codes for taper.Index:
    taper.pack_bits(taper.embed(images, "bits.tpm")). labels: for `class_units`, a class for each image, from 0.
    """
    return trained("train-bits", images, to, progress, options, labels)


def train_labels(images: Pictures, to: Path, *, labels: Path | Iterable[int] | None = None,
                 progress: Told | None = None, **options: Any) -> Model:
    """Train an embedding, whose codes are near for images of one class: as `train`, with the options of
    `taper train-labels --help-all`.

    labels: a class for each image, from 0. Without them the class is the folder of a file, or that of CIFAR and IDX.
    """
    return trained("train-labels", images, to, progress, options, labels)


def trained(verb: str, images: Pictures, to: Path, progress: Told | None, options: dict[str, Any],
            labels: Path | Iterable[int] | None = None) -> Model:
    with as_paths(images) as paths, as_file(labels) as file:
        options = dict(options, labels=file) if labels is not None else options
        report, = run(verb, [*switches(options), "--output", os.fspath(to), "--", *paths], progress)
    model = Model.load(to)
    model.report = report
    return model


@contextlib.contextmanager
def as_file(labels: Path | Iterable[int] | None) -> Iterator[Path | None]:
    """The path of a file of labels, one a line; a path as it is."""
    if labels is None or isinstance(labels, (str, os.PathLike)):
        yield labels
        return
    with tempfile.TemporaryDirectory(prefix="taper-") as folder:
        path = os.path.join(folder, "labels.txt")
        with open(path, "w") as file:
            file.writelines("%d\n" % label for label in labels)
        yield path


def compare(images: Pictures, *, model: Model | Path = "photo", rivals: Iterable[str] = ("jpeg", "webp"),
            progress: Told | None = None, **options: Any) -> dict[str, Any]:
    """Sizes and quality against other codecs, as `taper compare` tells: a dict with curves and BD-rates.

    images: arrays, or paths. model: a Model, a path, or "photo" or "tiny". rivals: of jpeg, jpeg2000, webp, avif, jxl.
    Other options are those of `taper compare`.
    """
    with as_paths(images) as paths:
        told, = run("compare", [*switches(dict(options, model=model, rivals=rivals)), "--", *paths], progress)
    return told
