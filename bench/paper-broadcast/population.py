"""population.py -- the bandwidths of a broadcast's receivers: histograms, and draws that a seed repeats.

The paper has no histogram of its own. It says that the distribution of bandwidths "is known or can be estimated", trains
for a geometric one, and names a ladder of seven. A population has the share of receivers below a bandwidth (`below`),
and the bandwidth below which a share of them lies (`at`). Bandwidths are bytes that a receiver gets in the time that one
picture has.
"""
import bisect
import math
import random
import statistics

NORMAL = statistics.NormalDist()
# Bandwidths are told in bits a second, for one picture a second.
BITS = 8


class LogNormal:
    """The logarithms of bandwidths are normal, with standard deviation sigma (natural logarithm)."""

    def __init__(self, kbits, sigma):
        self.mu, self.sigma = math.log(kbits * 1000 / BITS), sigma
        self.words = "log-normal, median %g kbit/s, sigma %g" % (kbits, sigma)

    def below(self, size):
        return NORMAL.cdf((math.log(size) - self.mu) / self.sigma) if size > 0 else 0.0

    def at(self, share):
        return math.exp(self.mu + self.sigma * NORMAL.inv_cdf(share))


class Geometric:
    """The paper's own distribution of lengths, p(b) = rho^(b - 1) (1 - rho), at this median; b counts bytes."""

    def __init__(self, kbits):
        self.mean = kbits * 1000 / BITS / math.log(2)
        self.words = "geometric, median %g kbit/s" % kbits

    def below(self, size):
        return -math.expm1(-size / self.mean) if size > 0 else 0.0

    def at(self, share):
        return -self.mean * math.log1p(-share)


class Classes:
    """Lines of a few kinds only, each with a share: the ladder's best case, as it can have a file for each kind."""

    def __init__(self, kbits, shares):
        self.sizes = [k * 1000 / BITS for k in kbits]
        self.sums = [sum(shares[:i + 1]) / sum(shares) for i in range(len(shares))]
        self.words = "classes of %s kbit/s" % ", ".join("%g" % k for k in kbits)

    def below(self, size):
        i = bisect.bisect_left(self.sizes, size)
        return self.sums[i - 1] if i else 0.0

    def at(self, share):
        return self.sizes[min(bisect.bisect_left(self.sums, share), len(self.sizes) - 1)]


POPULATIONS = {
    "log-normal": LogNormal(256, 1.0),
    "wide": LogNormal(256, 1.5),
    "geometric": Geometric(256),
    "classes": Classes((32, 64, 128, 256, 512, 1024, 2048), (5, 10, 20, 30, 20, 10, 5)),
}


def draw(population, seed, count):
    """Budgets of that many receivers in whole bytes."""
    numbers = random.Random(seed)
    return [int(population.at(numbers.random())) for _ in range(count)]
