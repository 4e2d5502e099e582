"""curves.py -- rate and distortion curves: reading them, and the mean difference of two.

A curve is a list of (bytes or bits, quality) with rising rates.
"""
import json
import math


def from_compare(text, codec, accounting, quality):
    """One curve of what `taper compare --json` prints; quality: psnr_db or ms_ssim."""
    for curve in json.loads(text)["curves"]:
        if curve["codec"] == codec and curve["accounting"] == accounting:
            return [(p["bytes_per_image"], p[quality]) for p in curve["points"]]
    raise KeyError(codec)


def in_bpp(curve, pixels_per_image):
    return [(8 * size / pixels_per_image, quality) for size, quality in curve]


def published(path, quality):
    """A curve in the form that CompressAI publishes; quality: psnr-rgb or ms-ssim-rgb."""
    with open(path, encoding="utf-8") as file:
        results = json.load(file)["results"]
    return sorted(zip(results["bpp"], results[quality]))


def decibels(curve):
    """MS-SSIM on a scale on which equal steps look alike: -10 log10(1 - x)."""
    return [(rate, -10 * math.log10(max(1 - quality, 1e-9))) for rate, quality in curve]


def rising(curve):
    """Points (quality, log rate) with strictly rising quality."""
    out = []
    for rate, quality in sorted(curve):
        if not out or quality > out[-1][0]:
            out.append((quality, math.log(rate)))
    return out


def slopes(points):
    """Fritsch and Carlson's slopes: the piecewise cubic through the points stays monotone."""
    step = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(points, points[1:])]
    width = [b[0] - a[0] for a, b in zip(points, points[1:])]
    out = [step[0]]
    for i in range(1, len(step)):
        if step[i - 1] * step[i] <= 0:
            out.append(0.0)
            continue
        w1, w2 = 2 * width[i] + width[i - 1], width[i] + 2 * width[i - 1]
        out.append((w1 + w2) / (w1 / step[i - 1] + w2 / step[i]))
    return out + [step[-1]]


def value(points, slope, x):
    i = max(k for k in range(len(points) - 1) if points[k][0] <= x or k == 0)
    (x0, y0), (x1, y1) = points[i], points[i + 1]
    h = x1 - x0
    t = (x - x0) / h
    return ((1 + 2 * t) * (1 - t) ** 2 * y0 + t * (1 - t) ** 2 * h * slope[i]
            + t * t * (3 - 2 * t) * y1 + t * t * (t - 1) * h * slope[i + 1])


def rate_at(curve, quality):
    """The rate at a quality, or None outside the curve."""
    points = rising(curve)
    if not points[0][0] <= quality <= points[-1][0]:
        return None
    return math.exp(value(points, slopes(points), quality))


def quality_at(curve, rate):
    """The quality at a rate: a straight line over log rate. None outside the curve."""
    curve = sorted(curve)
    for (r0, q0), (r1, q1) in zip(curve, curve[1:]):
        if r0 <= rate <= r1 and r1 > r0:
            return q0 + (q1 - q0) * math.log(rate / r0) / math.log(r1 / r0)
    return None


def bd_rate(curve, anchor, low_rate=0, high_rate=math.inf):
    """Mean difference of the rates at equal quality, in percent of the anchor's: pchip over
    log rate (Bjontegaard's measure), over the qualities that both curves have, and that the anchor
    has between the two rates."""
    a, b = rising(curve), rising(anchor)
    at = [q for q, r in b if low_rate <= math.exp(r) <= high_rate]
    low, high = max(a[0][0], at[0]), min(a[-1][0], at[-1])
    if not low < high:
        return None
    steps, sa, sb, total = 1000, slopes(a), slopes(b), 0.0
    for i in range(steps):
        x = low + (high - low) * (i + 0.5) / steps
        total += value(a, sa, x) - value(b, sb, x)
    return 100 * (math.exp(total / steps) - 1)
