# What README.md and CONTRIBUTING.md say is so: commands run, the C compiles, names exist.
R=$ROOT/README.md
docs="$R $ROOT/CONTRIBUTING.md $ROOT/SECURITY.md"
tell() { echo "$*" >>wrong; }
: >wrong

# the shell blocks, in order, on a folder named photos
"$SAMPLES" scenes photos --count 12 2>/dev/null
mkdir bin
ln -s "$TAPER" bin/taper
sed -n '/^```sh$/,/^```$/{/^```/!p}' "$R" >commands
test "$(wc -l <commands)" -ge 8
PATH=$PWD/bin:$PATH sh -eu commands 2>said || { cat said; exit 1; }
for folder in out coarse arriving; do
    test "$(find $folder -name '*.png' | wc -l)" -eq 12 || tell "not 12 images in $folder"
done

# the C block, and taper.h by its installed name
mkdir include
cp "$ROOT/codec/taper.h" include
sed -n '/^```c$/,/^```$/{/^```/!p}' "$R" >block.c
test -s block.c
${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -I"$ROOT" -fsyntax-only block.c

# functions that are named exist
cd "$ROOT"
sources=$(find formats codec train cli samples tests bench -name '*.[ch]')
cd - >/dev/null
# shellcheck disable=SC2086
grep -ohE '\b(taper|formats|codec|train|cli|cmd|bench|samples)_[a-z0-9_]+\b' $docs | sort -u |
    while read -r name; do
        # shellcheck disable=SC2086
        (cd "$ROOT" && grep -qw -e "$name" $sources) || echo "$sources" | grep -q "/$name\." ||
            tell "no $name in the sources"
    done

# options that are named exist
"$TAPER" --help >all
for verb in $(sed -n 's/^  \([a-z]*\) .*/\1/p' all); do "$TAPER" "$verb" --help >>all; done
# shellcheck disable=SC2086
grep -ohE '`--[a-z-]+' $docs | tr -d '`' | sort -u | while read -r option; do
    grep -qw -e "$option" all || tell "no option $option"
done

# files that are named or linked exist
# shellcheck disable=SC2086
{
    grep -ohE '\]\([A-Za-z][^)#:]*\)' $docs | sed 's/^](//; s/)$//'
    place="(formats|codec|train|cli|samples|tests|bench|\.ci)"
    grep -ohE "\\b$place/[A-Za-z0-9_/.-]*[A-Za-z0-9_/]" $docs
} | grep -vE 'NAME|NOUN' | sort -u | while read -r file; do
    [ -e "$ROOT/$file" ] || tell "no file $file"
done

# the tour names every room, and the header it names tells every noun of the room
sed -n '/^## Source tour/,/^### /p' "$R" >tour
for room in $(cd "$ROOT" && ls -d formats codec codec/*/ train train/*/ cli cli/*/); do
    room=${room%/}
    header=$(sed -n "s#^| .$room/. .* | .\([a-z_]*\.h\). |\$#\1#p" tour)
    [ -n "$header" ] || { tell "the source tour lacks $room/"; continue; }
    [ -e "$ROOT/$room/$header" ] || { tell "no file $room/$header"; continue; }
    [ "$room" = codec ] || grep -qE "(Directory|The room) $room/" "$ROOT/$room/$header" ||
        { tell "$room/$header does not tell what the room holds"; continue; }
    sed '/\*\//q' "$ROOT/$room/$header" | grep -oE '[A-Za-z_0-9]+' | sort -u >told
    for file in "$ROOT/$room"/*.[ch]; do
        noun=${file##*/}
        [ "$room" = codec ] || grep -qx "${noun%.*}" told ||
            tell "$room/$header does not tell of $noun"
    done
done

sort -u wrong
[ ! -s wrong ]
