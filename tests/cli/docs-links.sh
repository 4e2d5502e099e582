# Links, anchors, functions, options and files that README.md and the pages of docs/ name exist.
: >wrong
tell() { echo "$*" >>wrong; }
pages="$(ls "$ROOT"/docs/*.md) $ROOT/README.md $ROOT/CONTRIBUTING.md $ROOT/SECURITY.md $ROOT/bench/results/README.md $ROOT/samples/notebook.ipynb"
# the pages that README.md promises
for page in guide promises glossary training search embeddings library streaming benchmarks architecture; do
    [ -e "$ROOT/docs/$page.md" ] || tell "no file docs/$page.md"
    grep -qF "(docs/$page.md)" "$ROOT/README.md" || tell "README.md does not link docs/$page.md"
done

# what GitHub makes of a heading
anchors() { sed -n 's/^##* //p' "$1" | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'; }
for page in $pages; do
    here=$(dirname "$page")
    grep -oE '\]\([^)]*\)' "$page" | sed 's/^](//; s/)$//' | grep -v '^https*:' | sort -u >links || true
    while IFS='#' read -r file anchor; do
        target=$here/$file
        [ -n "$file" ] || target=$page
        [ -e "$target" ] || { tell "$page: no file $file"; continue; }
        case $file in ''|*.md) ;; *) continue ;; esac
        [ -z "$anchor" ] || anchors "$target" | grep -qxF -e "$anchor" ||
            grep -qF "<a name=\"$anchor\">" "$target" || tell "$page: no heading $file#$anchor"
    done <links
done

cd "$ROOT"
sources=$(find formats codec remote serve web train cli samples tests bench packaging -name '*.[ch]' -o -name '*.cmake.in' -o -name '*.py')
cd - >/dev/null
# shellcheck disable=SC2086
grep -ohE '\b(taper|formats|codec|remote|serve|train|cli|cmd)_[a-z0-9_]+\b' "$ROOT"/docs/*.md | sort -u | while read -r name; do
    # shellcheck disable=SC2086
    (cd "$ROOT" && grep -qw -e "$name" $sources) || echo "$sources" | grep -q "/$name\." ||
        tell "no $name in the sources"
done
"$TAPER" --help >all
for verb in $(sed -n 's/^  \([a-z-]*\) .*/\1/p' all); do "$TAPER" "$verb" --help-all >>all; done
grep -ohE '`--[a-z-]+' "$ROOT"/docs/*.md | tr -d '`' | sort -u | while read -r option; do
    grep -qw -e "$option" all || tell "no option $option"
done
place="(formats|codec|remote|serve|web|train|cli|samples|tests|bench|models)"
grep -ohE "\`$place/[A-Za-z0-9_/.-]*[A-Za-z0-9_/]\`" "$ROOT"/docs/*.md | tr -d '`' | sort -u | while read -r file; do
    [ -e "$ROOT/$file" ] || tell "no file $file"
done

# the tests that docs/promises.md names exist, and each promise has one
grep -oE '`[a-z0-9_/-]+(\.sh)?`' "$ROOT/docs/promises.md" | tr -d '`' | sort -u | while read -r name; do
    case $name in
        */*) ;; # looked for above
        *.sh) [ -e "$ROOT/tests/cli/$name" ] || tell "docs/promises.md: no test tests/cli/$name" ;;
        *_*) grep -qE "^static void $name\(" "$ROOT"/tests/test_*.c || tell "docs/promises.md: no test $name" ;;
    esac
done
awk '/^## P/ { if (name && !test) print name; name = $2; test = 0 } /`tests\/|`p[0-9]_/ { test = 1 }
    END { if (!test) print name }' "$ROOT/docs/promises.md" | while read -r name; do
    tell "docs/promises.md: no test of $name"
done

# the architecture names every directory of the source and the header to start with, which tells every module there
for directory in $(cd "$ROOT" && ls -d formats codec codec/*/ remote serve serve/*/ web/wasm train train/*/ cli cli/*/); do
    directory=${directory%/}
    header=$(sed -n "s#^| .$directory/. | .* | .\([a-z_]*\.[ch]\). |\$#\1#p" "$ROOT/docs/architecture.md")
    [ -n "$header" ] || { tell "docs/architecture.md lacks $directory/"; continue; }
    [ -e "$ROOT/$directory/$header" ] || { tell "no file $directory/$header"; continue; }
    [ "$directory" != codec ] || continue # the public interface
    grep -qiE "(The )?directory $directory/" "$ROOT/$directory/$header" ||
        { tell "$directory/$header does not tell what the directory holds"; continue; }
    sed '/\*\//q' "$ROOT/$directory/$header" | grep -oE '[A-Za-z_0-9]+' | sort -u >told
    for file in "$ROOT/$directory"/*.[ch]; do
        module=${file##*/}
        grep -qx "${module%.*}" told || tell "$directory/$header does not tell of $module"
    done
done
sort -u wrong
[ ! -s wrong ]
