#!/usr/bin/env python3
"""abi.py -- the binary interface of libtaper, as its header and its shared library have it.

    python3 tests/abi.py build/opt            print it: symbols with their versions and declarations, constants, and
                                              the sizes and offsets of structs
    python3 tests/abi.py build/opt --renew    write it to tests/abi.txt: after a change that is meant

A release with the same soname may add lines to abi.txt. It may not change or remove any, except that a struct which
callers allocate by its name cannot grow either. Exit code 1: the header declares other functions than the library
exports. Sizes come from a C program that is made of the header's names; CC compiles it, for 64-bit machines.
"""
import os
import re
import subprocess
import sys
import tempfile

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "abi.txt")


def declarations(header):
    """The header without comments, line breaks and repeated blanks."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    defines = re.findall(r"^#define (TAPER_\w+)[ \t]+\S", text, flags=re.M)
    text = re.sub(r"^#.*$", " ", text, flags=re.M)
    return re.sub(r"\s+", " ", text), [d for d in defines if not re.match("TAPER_(API|VERSION)", d)]


def functions(text):
    found = {}
    for what in re.findall(r"TAPER_API ([^;{]*);", text):
        found[re.search(r"(\w+)\(", what).group(1)] = what
    return found


def fields(body):
    """Names of the fields of a struct: of `a, b[3]` and of pointers to functions as well."""
    for field in filter(None, (f.strip() for f in body.split(";"))):
        pointer = re.search(r"\(\*(\w+)\)", field)
        if pointer:
            yield pointer.group(1)
            continue
        for name in field.split(","):
            yield re.search(r"(\w+)(\[\w+\])*$", name.strip()).group(1)


def program(text, defines):
    """A C program that prints the lines of constants and structs."""
    out = ["#include <stddef.h>", "#include <stdio.h>", "#include <taper.h>", "int main(void) {"]
    out += [f'printf("constant {d} %.17g\\n", (double)({d}));' for d in defines]
    for body in re.findall(r"enum(?: \w+)? \{(.*?)\}", text):
        for name in re.findall(r"(\w+)(?: = [^,]*)?", re.sub(r"= [^,]*", "", body)):
            out.append(f'printf("constant {name} %d\\n", (int){name});')
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \w+;", text):
        out.append(f'printf("struct {name} %zu\\n", sizeof({name}));')
        for field in fields(body):
            out.append(f'printf("struct {name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                       f"sizeof((({name} *)0)->{field}));")
    return "\n".join(out + ["return 0;", "}", ""])


def run_program(source, include):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "abi")
        with open(path + ".c", "w") as f:
            f.write(source)
        subprocess.run([*os.environ.get("CC", "cc").split(), "-I" + include, "-o", path, path + ".c"], check=True)
        return subprocess.run([path], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def exported(library):
    """Name and version of each exported symbol; sanitizers add some of their own."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE, text=True)
    found = {}
    for line in lines.stdout.splitlines():
        name, _, version = line.split()[-1].partition("@")
        if not re.match(r"(__|_init$|_fini$|TAPER_[0-9.]+$)", name):
            found[name] = version.lstrip("@")
    return found


def main():
    build = sys.argv[1]
    with open(f"{build}/include/taper.h") as f:
        text, defines = declarations(f.read())
    declared, symbols = functions(text), exported(f"{build}/libtaper.so")
    for name in sorted(declared.keys() ^ symbols.keys()):
        print(f"{name}: {'declared, not exported' if name in declared else 'exported, not declared'}", file=sys.stderr)
    if declared.keys() != symbols.keys():
        return 1
    lines = [f"function {symbols[name]} {declared[name]}" for name in sorted(symbols)]
    lines += run_program(program(text, defines), f"{build}/include")
    out = open(KEPT, "w") if "--renew" in sys.argv else sys.stdout
    print("\n".join(lines), file=out)
    return 0


sys.exit(main())
