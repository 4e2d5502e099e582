# Sources are formatted as .clang-format says. Comments are left as they are, so that tables in them survive.
# Version 14 of the formatter, which Debian 12 has: others break lines elsewhere.
clang-format --version 2>/dev/null | grep -q 'version 14\.' || { echo "SKIP no clang-format of version 14"; exit 0; }
cd "$ROOT"
find formats codec serve train cli samples tests bench -name '*.[ch]' -o -name '*.cu' -o -name '*.cc' | sort >"$OLDPWD/files"
xargs clang-format --dry-run <"$OLDPWD/files" 2>"$OLDPWD/found"
test ! -s "$OLDPWD/found" || {
    sed -n 's/^\([^:]*\):.*warning.*/\1/p' "$OLDPWD/found" | sort -u
    echo "these differ: clang-format -i FILE"
    exit 1
}
