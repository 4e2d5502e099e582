# tests/tiers.txt names tests that exist, once each; and what leaves `check` is in `check-all`: the jobs of quick
# are among those of check, those of check among all; those of check and rest together are all, also with sanitizers.
tiers=$ROOT/tests/tiers.txt
grep -v '^#' "$tiers" | sort >marks
test -s marks
grep -vE '^(quick|all|san) (unit|cli|fuzz|style|example) [A-Za-z0-9_-]+$' marks && exit 1
grep -v '^san' marks | cut -d' ' -f2- | sort | uniq -d >twice
test ! -s twice
cut -d' ' -f2- marks | sort -u | while read -r kind name; do
    case $kind in
    unit) test -f "$ROOT/tests/$name.c" ;;
    fuzz) test -f "$ROOT/tests/fuzz/$name.c" ;;
    cli) test -f "$ROOT/tests/cli/$name.sh" ;;
    esac || { echo "there is no $kind $name"; exit 1; }
done
for tier in quick check all rest; do TIER=$tier LIST=1 sh "$ROOT/tests/run.sh" "$B" | sort >"$tier"; done
for tier in all rest; do SAN_BUILD=$B TIER=$tier LIST=1 sh "$ROOT/tests/run.sh" "$B" | sort >"$tier-san"; done
test -s quick
comm -23 quick check >lost
comm -23 check all >>lost
sort -u check rest | comm -3 - all >>lost
sort -u check rest-san | comm -3 - all-san >>lost
cat lost
test ! -s lost
grep -q '^san-' rest-san
# three orders of threads: every test of the kernels is in rest
grep '^unit test_kernels_' all | comm -23 - rest >lost
cat lost
test ! -s lost
# each file that looks like a test is a job of check-all
{
    (cd "$ROOT/tests" && ls test_*.c) | sed 's/^/unit /; s/\.c$//'
    (cd "$ROOT/tests/cli" && ls *.sh) | sed 's/^/cli /; s/\.sh$//'
    (cd "$ROOT/tests/fuzz" && ls fuzz_*.c) | sed 's/^/fuzz /; s/\.c$//'
    echo example example
    echo style style
} | sort >files
grep -v '^san' all | cmp - files
