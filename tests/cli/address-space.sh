# Under a limit on address space every verb does its work, or ends with exit code 6 and one sentence:
# none hangs, none is killed.
. "$ROOT/tests/cli_helpers.sh"
if grep -q __asan_init "$TAPER"; then
    echo "SKIP sanitizers take terabytes of address space"
    exit 0
fi

small_set 6
"$TAPER" encode -q -m model.tpm -o one.taper set/png/cross
"$TAPER" encode -q -m model.tpm -o two.taper set/png/ring

within() { # kilobytes, codes, VERB ARGUMENTS...
    limit=$1 codes=$2
    shift 2
    code=0
    (ulimit -v "$limit" && exec timeout 60 "$TAPER" "$@") >words 2>&1 || code=$?
    case " $codes " in *" $code "*) ;; *) code="$code, not $codes" ;; esac
    if [ "$code" = 0 ] || { [ "$code" = 6 ] && [ "$(wc -l <words)" -eq 1 ]; }; then return; fi
    echo "taper $* within $limit kB: exit code $code"
    cat words
    exit 1
}

for limit in 250000 150000 120000; do
    within $limit 0 encode -q -f -m model.tpm -o three.taper set/png
    within $limit '0 6' encode -q -f -o photo.taper set/png/cross
    within $limit 0 decode -q -f -m model.tpm -o pictures one.taper
    within $limit 0 repack -q -f -m model.tpm --layout image -o four.taper one.taper
    within $limit 0 merge -q -f -o five.taper one.taper two.taper
    within $limit 0 truncate -q -f --bytes 300 -o six.taper one.taper
    within $limit 0 info -q one.taper
    within $limit 0 verify -q one.taper
    within $limit '0 6' train -q -f --window 8 -o another.tpm set/png
    within $limit '0 6' compare -q -f -m model.tpm -o report set/png/cross
done
within 150000 6 train -q -f --window 8 -o never.tpm set/png
grep -q 'no memory for LAPACK' words
[ ! -e never.tpm ]
nothing_left
