#!/usr/bin/env python3
"""check.py -- the teaching decoder on the conformance corpus; an example of how to try a decoder.

    python3 check.py FOLDER [PATTERN]     only lines of the manifest that hold PATTERN

Prints a line for each difference and the number of lines tried; exits with 1 if any differ.
"""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "..", "formats"))
import teaching_decoder as teach  # noqa: E402


def samples_of(rows, depth):
    """An image's samples as bytes: 16 bits most significant byte first."""
    if depth == 8:
        return b"".join(bytes(row) for row in rows)
    return b"".join(v.to_bytes(2, "big") for row in rows for v in row)


def decode(data, model):
    """outcome, text of the levels, geometry and samples of each image"""
    front = teach.Front(data)
    if model is None:
        teach.require(front.model is not None, "no model")
        model = teach.Model(front.model_file(data))
    if front.model_id != model.id:
        return "other-model", "", []
    teach.match(front, model)
    data = front.drawn(data)
    outcome, text, images = "ok", "", [None] * front.images
    for g in range(front.groups):
        group, wrong = teach.decode_group(front, model, data, g)
        outcome = "damaged" if wrong else outcome
        text += teach.levels_text(g, group)
        for place in range(front.group_first[g], front.group_first[g + 1]):
            i = front.image_at[place]
            rows = group.image(place - front.group_first[g], front.geometry[i])
            images[i] = front.geometry[i][3], samples_of(rows, front.geometry[i][3])
    return outcome, text, images


def result(data, model, is_model):
    try:
        if is_model:
            teach.Model(data)
            return "ok", "", []
        return decode(data, model)
    except teach.Incomplete:
        return "incomplete", "", []
    except teach.Illegal:
        return "refused", "", []


def near(images, expected):
    """At most a level of 8 bits between them."""
    for depth, samples in images:
        want, expected = expected[:len(samples)], expected[len(samples):]
        step, most = (1, 1) if depth == 8 else (2, 257)
        for k in range(0, len(samples), step):
            a, b = (int.from_bytes(s[k:k + step], "big") for s in (samples, want))
            if not abs(a - b) <= most:
                return False
    return True


def differences(words, found, samples):
    """What the manifest's words say against what was found."""
    outcome, text, images = found
    refused = ("corrupt", "unknown", "incomplete") if words[3] != "incomplete" or \
        words[0].endswith(".tpm") else ("incomplete",)
    if outcome != words[3] and not (outcome in ("refused", "incomplete") and words[3] in refused):
        return "%s, not %s" % (outcome, words[3])
    if len(words) == 4:
        return "images" if images else ""
    if "%08x" % teach.crc32c(text.encode()) != words[4]:
        return "levels"
    if words[5].startswith("~"):
        return "" if near(images, samples[int(words[5][1:]):]) else "pixels"
    sums = ["%08x" % teach.crc32c(image[1]) for image in images]
    wrong = [str(i + 1) for i, (a, b) in enumerate(zip(sums, words[5:])) if a != b]
    return "pixels of image " + ", ".join(wrong) if wrong or len(sums) != len(words) - 5 else ""


def main(folder, pattern=""):
    files, models, slow = {}, {"-": None}, []
    with open(os.path.join(folder, "samples"), "rb") as file:
        samples = file.read()
    lines = [line for line in open(os.path.join(folder, "manifest"))
             if not line.startswith("#") and pattern in line]
    bad = 0
    for line in lines:
        words = line.split()
        for name in words[:2]:
            if name not in files and name != "-":
                with open(os.path.join(folder, name), "rb") as file:
                    files[name] = file.read()
        if words[1] not in models:
            models[words[1]] = teach.Model(files[words[1]])
        begin = time.time()
        found = result(files[words[0]][:int(words[2])], models[words[1]], words[0].endswith(".tpm"))
        slow.append((time.time() - begin, " ".join(words[:3])))
        wrong = differences(words, found, samples)
        if wrong:
            print("%s: %s" % (" ".join(words[:3]), wrong))
        bad += bool(wrong)
    print("%d lines, %d differ" % (len(lines), bad))
    if os.environ.get("TAPER_SLOW"):
        print(sum(t for t, _ in slow), *sorted(slow)[-12:], sep="\n")
    return 1 if bad or not lines else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
