#!/usr/bin/python3
"""Write formats/imageset/decompositions.c: canonical decompositions of Unicode, from Python's tables.

    python3 formats/imageset/decompositions.py >formats/imageset/decompositions.c && clang-format -i formats/imageset/decompositions.c

Contains all characters below U+3100 with a canonical decomposition (into one or two others), and the
combining classes of all marks below U+3100. Hangul is computed (formats/imageset/name_key.c)."""
import unicodedata

END = 0x3100


def rows(numbers, per_row):
    for at in range(0, len(numbers), per_row):
        print("    " + " ".join(numbers[at:at + per_row]))


def main():
    taken_apart, classes = [], []
    for code in range(END):
        parts = unicodedata.decomposition(chr(code))
        if parts and "<" not in parts:
            first, second = (parts.split() + ["0"])[:2]
            taken_apart.append("{0x%X, 0x%s, 0x%s}," % (code, first.lstrip("0"), second.lstrip("0") or "0"))
        mark = unicodedata.combining(chr(code))
        if mark and classes and classes[-1][1] == code - 1 and classes[-1][2] == mark:
            classes[-1][1] = code
        elif mark:
            classes.append([code, code, mark])
    print("/* decompositions.c -- written by decompositions.py from Unicode %s; see name_key.h. */"
          % unicodedata.unidata_version)
    print('#include "formats/imageset/decompositions.h"\n')
    print("const formats_decomposition formats_decompositions[] = {")
    rows(taken_apart, 3)
    print("};\nconst size_t formats_decomposition_count = %d;\n" % len(taken_apart))
    print("const formats_mark_class formats_mark_classes[] = {")
    rows(["{0x%X, 0x%X, %d}," % tuple(run) for run in classes], 4)
    print("};\nconst size_t formats_mark_class_count = %d;" % len(classes))


main()
