# What README.md and CONTRIBUTING.md say is so: commands run, the C compiles, names exist.
R=$ROOT/README.md
docs="$R $ROOT/CONTRIBUTING.md $ROOT/SECURITY.md"
tell() { echo "$*" >>wrong; }
: >wrong

# short enough to be read
test "$(wc -l <"$R")" -le 160 || tell "README.md has more than 160 lines"

# the commands of the console blocks, in order, on a folder named photos
"$SAMPLES" scenes photos --count 12 2>/dev/null
mkdir bin
ln -s "$TAPER" bin/taper
sed -n '/^```console$/,/^```$/s/^\$ //p' "$R" >commands
test "$(wc -l <commands)" -ge 12
PATH=$PWD/bin:$PATH sh -eu commands >shown 2>said || { cat said; exit 1; }
test "$(find small -name '*.png' | wc -l)" -eq 12 || tell "not 12 images in small"
test "$(find three -name '*.png' | wc -l)" -eq 3 || tell "not 3 images in three"
test -s report/index.html || tell "no report"
for line in 'codec  *accounting' 'taper  *file ' 'JPEG  *file ' 'WebP  *file ' 'query,rank,name,label,distance,image'; do
    grep -q "^$line" shown || tell "README.md shows a line that no command prints: $line"
done
for line in 'taper encode: .* images, .* in photos.taper; .* dB in the mean' 'taper decode: .* passes, in small'; do
    grep -q "^$line" "$R" || tell "README.md does not show the output $line"
    grep -q "^$line" said || tell "README.md shows a line that no command prints: $line"
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
for verb in $(sed -n 's/^  \([a-z-]*\) .*/\1/p' all); do "$TAPER" "$verb" --help-all >>all; done
# shellcheck disable=SC2086
grep -ohE '`--[a-z-]+' $docs | tr -d '`' | sort -u | while read -r option; do
    grep -qw -e "$option" all || tell "no option $option"
done

# files that are named or linked exist
# shellcheck disable=SC2086
{
    grep -ohE '\]\([A-Za-z][^)#:]*\)' $docs | sed 's/^](//; s/)$//'
    place="(formats|codec|train|cli|samples|tests|bench|\.ci)"
    # what a build makes, and placeholders, aside
    sed 's#build/[A-Za-z0-9_/.-]*##g' $docs | grep -ohE "\\b$place/[A-Za-z0-9_/.-]*[A-Za-z0-9_/]"
} | grep -vE 'NAME|NOUN|test_X' | sort -u | while read -r file; do
    [ -e "$ROOT/$file" ] || tell "no file $file"
done

sort -u wrong
[ ! -s wrong ]
