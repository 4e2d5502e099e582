"""ladder.py -- the best files for receivers of a population, and what they then see.

A *choice* is (scale, setting, quality) of a codec. A *table* holds what each choice of one picture costs and shows:
{choice: (bytes, PSNR)}, with {None: (0, PSNR of a grey picture)}. A *ladder* is a list of at most RUNGS choices.

A receiver that gets b bytes sees
    links          the best file of at most b bytes
    multicast      the same; the sum of all files is at most what the sender can send
    transmission   the best of the first files, smallest first, whose sum is at most b: all files are one transmission, of
                   which it gets the first b bytes, as the paper says it
"""
import math

RUNGS = 7
TRANSMISSION = "transmission"


def steps(table, ladder, accounting):
    """What is seen from how many bytes on: [(bytes, PSNR)], rising in both."""
    out, best, total = [(0, table[None][1])], table[None][1], 0
    for size, psnr in sorted(table[c] for c in ladder):
        total += size
        if psnr > best:
            best = psnr
            out.append((total if accounting == TRANSMISSION else size, psnr))
    return out


def seen(step, budget):
    """PSNR at a budget."""
    psnr = step[0][1]
    for size, better in step:
        if size > budget:
            break
        psnr = better
    return psnr


def total(table, ladder):
    return sum(table[c][0] for c in ladder)


def expected(tables, ladder, accounting, population):
    """Mean over pictures and the whole population."""
    value = 0.0
    for table in tables:
        step = steps(table, ladder, accounting)
        below = [population.below(size) for size, _ in step] + [1.0]
        value += sum((below[i + 1] - below[i]) * psnr for i, (_, psnr) in enumerate(step))
    return value / len(tables)


def front(tables):
    """The choices that no other beats in mean bytes and mean PSNR, by rising bytes."""
    means = {c: tuple(sum(t[c][k] for t in tables) / len(tables) for k in (0, 1)) for c in tables[0] if c is not None}
    out, best = [], -math.inf
    for choice in sorted(means, key=lambda c: (means[c][0], -means[c][1])):
        if means[choice][1] > best:
            best = means[choice][1]
            out.append(choice)
    return out


class Chain:
    """Ladders as paths through the choices: dynamic programming. Exact for links where files rise in size together."""

    def __init__(self, tables, choices, population):
        self.choices, n = choices, len(choices)
        below = [[population.below(t[c][0]) for c in choices] for t in tables]
        self.mean_size = [sum(t[c][0] for t in tables) / len(tables) for c in choices]
        # gain[i][j]: what receivers between file i and file j see more than grey, by file i; j = n: all above
        self.gain = [[0.0] * (n + 1) for _ in range(n)]
        for i, choice in enumerate(choices):
            for j in range(i + 1, n + 1):
                self.gain[i][j] = sum(max(0.0, (1.0 if j == n else f[j]) - f[i]) * (t[choice][1] - t[None][1])
                                      for t, f in zip(tables, below)) / len(tables)

    def best(self, price):
        """The ladder of most expected PSNR, less `price` for each byte sent."""
        n = len(self.choices)
        value = [[self.gain[i][n] - price * self.mean_size[i] for i in range(n)]]
        after = [[n] * n]
        for _ in range(RUNGS - 1):
            last, now, to = value[-1], list(value[-1]), list(after[-1])
            for i in range(n):
                for j in range(i + 1, n):
                    v = self.gain[i][j] - price * self.mean_size[i] + last[j]
                    if v > now[i]:
                        now[i], to[i] = v, j
            value.append(now)
            after.append(to)
        level, i, ladder = RUNGS - 1, max(range(n), key=lambda k: value[-1][k]), []
        while i < n and level >= 0:
            ladder.append(self.choices[i])
            i = after[level][i]
            level -= 1
        return ladder

    def within(self, limit):
        """The best ladder found whose files have at most `limit` bytes in the mean; None: no limit."""
        size = dict(zip(self.choices, self.mean_size))

        def fits(ladder):
            return limit is None or sum(size[c] for c in ladder) <= limit
        low, high = 0.0, 1e-9
        if fits(self.best(low)):
            return self.best(low)
        while not fits(self.best(high)) and high < 1:
            low, high = high, 4 * high
        for _ in range(20):
            price = (low + high) / 2
            low, high = (low, price) if fits(self.best(price)) else (price, high)
        ladder = self.best(high)
        return ladder if fits(ladder) else []


def improve(tables, choices, ladder, accounting, population, limit):
    """Exchange, leave out and add files while that helps, within the limit."""
    mean_size = {c: sum(t[c][0] for t in tables) / len(tables) for c in choices}
    mean_size[None] = 0.0
    slots = list(ladder) + [None] * (RUNGS - len(ladder))
    best = expected(tables, ladder, accounting, population)
    better = True
    while better:
        better = False
        for k in range(RUNGS):
            rest = [c for i, c in enumerate(slots) if c is not None and i != k]
            used = sum(mean_size[c] for c in rest)
            for choice in [None] + choices:
                if choice in rest or choice == slots[k] or (limit and used + mean_size[choice] > limit):
                    continue
                value = expected(tables, rest + ([choice] if choice else []), accounting, population)
                if value > best + 1e-6:
                    best, better = value, True
                    slots[k] = choice
    return sorted((c for c in slots if c is not None), key=lambda c: mean_size[c])


def design(tables, accounting, population, limit=None):
    """The best ladder for these pictures. limit: mean bytes of all files together, in multicast."""
    choices = front(tables)
    chain = Chain(tables, choices, population)
    return improve(tables, choices, chain.within(limit), accounting, population, limit)


class Curve:
    """PSNR of a container by bytes, from some cuts: between two it is interpolated, bytes as logarithms."""

    def __init__(self, points):
        self.size = [math.log(max(size, 1)) for size, _ in points]
        self.psnr = [psnr for _, psnr in points]
        self.bytes = points[-1][0]
        # nothing is seen below the first cut that shows more than a grey picture
        self.first = next((size for size, psnr in points if psnr != points[0][1]), self.bytes)

    def seen(self, budget):
        if budget < self.first:
            return self.psnr[0]
        at = math.log(min(budget, self.bytes))
        low, high = 0, len(self.size) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.size[middle] <= at else (low, middle)
        part = (at - self.size[low]) / (self.size[high] - self.size[low])
        return self.psnr[low] + min(max(part, 0.0), 1.0) * (self.psnr[high] - self.psnr[low])
