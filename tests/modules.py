#!/usr/bin/env python3
"""The modules of the source, which of them use which, and cycles among them.

    python3 tests/modules.py            a line for each directory; exit code 1 when a rule is broken
    python3 tests/modules.py --svg F    the directories as a picture. An arrow points at the directory that
                                        is used; arrows that follow from others are left out

A module is a .c file with the .h beside it. It uses another module when one of its files includes the
header of the other, or names a function or table that the other's .c file defines and exports. A
directory uses those directories that its modules use. The level of a directory is 1 if it uses no
other, else 1 more than the highest level that it uses. A cycle is a set of modules, or of directories,
that use each other, directly or through others.

The rules: no cycle of directories or modules; at most MOST_MODULES modules in a directory of codec/ and
train/; at most MOST_LEVELS levels in codec/.
"""
import collections
import os
import re
import sys

MOST_MODULES = 16
MOST_LEVELS = 6
FLAT = ("formats", "cli")  # directories of any size
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def read_files():
    found = {}
    for top in ("formats", "codec", "remote", "serve", "train", "cli"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        found[os.path.relpath(path, ROOT)] = file.read()
    return found


def module(path):
    return os.path.splitext(path)[0]


def directory(of):
    return os.path.dirname(of)


def bare(text):
    """Without comments and strings."""
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.S)


def who_includes(files):
    uses = collections.defaultdict(set)
    for path, text in files.items():
        uses[module(path)]
        for other in re.findall(r'^#include "([^"]+)"', text, flags=re.M):
            if other in files and module(other) != module(path):
                uses[module(path)].add(module(other))
    return uses


def who_calls(files):
    defined = {}
    for path, text in files.items():
        if path.endswith(".c"):
            for line in re.findall(r"^[A-Za-z_][^;={}#]*?\)\s*\{$", bare(text), flags=re.M | re.S):
                name = re.search(r"(\w+)\(", line)
                if name and not re.search(r"\bstatic\b|_INLINE\b", line):
                    defined[name.group(1)] = module(path)
            for table in re.findall(r"^const [^;={}()]*?(\w+)(?:\[\w*\])* = ", text, flags=re.M):
                defined[table] = module(path)
    uses = collections.defaultdict(set)
    for path, text in files.items():
        if path.endswith(".c"):
            for name in set(re.findall(r"\b\w+\b", bare(text))):
                if defined.get(name, module(path)) != module(path):
                    uses[module(path)].add(defined[name])
    return uses


def cycles(uses):
    """Tarjan's strongly connected components of more than one member."""
    number, low, stack, found = {}, {}, [], []

    def visit(at):
        number[at] = low[at] = len(number)
        stack.append(at)
        for to in sorted(uses.get(at, ())):
            if to not in number:
                visit(to)
                low[at] = min(low[at], low[to])
            elif to in stack:
                low[at] = min(low[at], number[to])
        if low[at] == number[at]:
            members = stack[stack.index(at):]
            del stack[stack.index(at):]
            if len(members) > 1:
                found.append(sorted(members))

    for at in sorted(uses):
        if at not in number:
            visit(at)
    return found


def of_directories(uses):
    between = collections.defaultdict(set)
    for at, others in uses.items():
        between[directory(at)].update(directory(to) for to in others if directory(to) != directory(at))
    return between


def levels(between, directories):
    level = {}

    def of(at):
        if at not in level:
            level[at] = 0  # a cycle would not end
            level[at] = 1 + max((of(to) for to in between.get(at, ()) if to in directories), default=0)
        return level[at]

    for at in directories:
        of(at)
    return level


def needed(between):
    """Without the arrows that others imply."""
    def reached(at, seen):
        for to in between.get(at, ()):
            if to not in seen:
                seen.add(to)
                reached(to, seen)
        return seen

    return {at: {to for to in others
                 if not any(to in reached(way, set()) for way in others - {to})}
            for at, others in between.items()}


SLOTS = 16  # places in a row; a box takes three


def crossed(at, to, slot, level):
    """Boxes that an arrow passes through on the levels between."""
    steps = level[at] - level[to]
    return sum(1 for box in slot if 0 < level[at] - level[box] < steps and abs(
        slot[at] + (slot[to] - slot[at]) * (level[at] - level[box]) / steps - slot[box]) < 2)


def slots(between, level):
    """Where boxes stand in their rows: each is moved as long as fewer arrows pass through boxes,
    or arrows become shorter."""
    slot, rows = {}, collections.defaultdict(list)
    for at in sorted(level):
        slot[at] = 3 * len(rows[level[at]])
        rows[level[at]].append(at)

    def cost():
        return sum(1000 * crossed(at, to, slot, level) + (slot[at] - slot[to]) ** 2
                   for at in between for to in between[at])

    best, before = cost(), None
    while best != before:
        before = best
        for at in sorted(level):
            for to in range(SLOTS):
                old = dict(slot)
                for other in rows[level[at]]:  # who stands there changes places
                    if other != at and abs(slot[other] - to) < 3:
                        slot[other] = slot[at]
                slot[at] = to
                taken = sorted(slot[other] for other in rows[level[at]])
                apart = all(b - a >= 3 for a, b in zip(taken, taken[1:]))
                if apart and cost() < best:
                    best = cost()
                else:
                    slot = old
    return slot


def svg(between, count, path):
    """Directories by level, bottom up; an arrow runs down to who is used."""
    between = needed(between)
    level = levels(between, set(count))
    wide, high, gap, slot = 160, 34, 40, 58
    stands = slots(between, level)
    width = 10 + (max(stands.values()) + 3) * slot
    height = max(level.values()) * (high + gap) + 10
    place = {at: (10 + stands[at] * slot, height - level[at] * (high + gap) + gap / 2)
             for at in stands}
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
           'font-family="sans-serif" font-size="13">',
           '<defs><marker id="a" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
           '<path d="M0 0L6 3L0 6" fill="#789"/></marker></defs>']
    for at in sorted(between):
        for to in sorted(between[at]):
            (x, y), (u, v) = place[at], place[to]
            out.append(f'<path d="M{x + wide / 2:.0f} {y + high:.0f}L{u + wide / 2:.0f} {v:.0f}" '
                       'stroke="#789" stroke-opacity=".45" marker-end="url(#a)"/>')
    for at, (x, y) in place.items():
        out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide}" height="{high}" rx="5" '
                   'fill="#eef3f8" stroke="#456"/>'
                   f'<text x="{x + wide / 2:.0f}" y="{y + 21:.0f}" text-anchor="middle">{at} '
                   f'({count[at]})</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


def main():
    files = read_files()
    includes, calls = who_includes(files), who_calls(files)
    both = {at: includes[at] | calls[at] for at in set(includes) | set(calls)}
    between = of_directories(both)
    count = collections.Counter(directory(at) for at in includes)
    codec = {at for at in count if at.startswith("codec")}
    level = levels(between, codec)
    for at in sorted(count):
        on = f"level {level[at]}" if at in codec else ""
        print(f"{at:20} {count[at]:3} modules  {on:8} uses {' '.join(sorted(between[at]))}")
    wrong = []
    for at, n in count.items():
        if at not in FLAT and n > MOST_MODULES:
            wrong.append(f"{at} holds {n} modules, {MOST_MODULES} may be: part it")
    if max(level.values()) > MOST_LEVELS:
        wrong.append(f"codec/ has {max(level.values())} levels, {MOST_LEVELS} may be")
    for members in cycles(between):
        wrong.append("a cycle of directories: " + " ".join(members))
    for members in cycles(both):
        wrong.append("a cycle: " + " ".join(members))
    if "--svg" in sys.argv:
        svg(between, count, sys.argv[sys.argv.index("--svg") + 1])
    for line in wrong:
        print("tests/modules.py: " + line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
