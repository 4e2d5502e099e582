# The shared library exports what taper.h declares, and nothing else.
command -v nm >/dev/null || { echo "SKIP no nm"; exit 0; }
nm -D --defined-only "$B/libtaper.so" | awk '{ print $NF }' | sort >exported
sed -n 's/^TAPER_API [^(]*[ *]\(taper_[a-z0-9_]*\)(.*/\1/p' \
    "$ROOT/codec/taper.h" "$ROOT/codec/taper_model.h" "$ROOT/codec/taper_search.h" \
    "$ROOT/codec/taper_index.h" | sort >declared
test -s declared
# sanitizers add symbols of their own
grep -vE '^(__asan_|__odr_asan|__ubsan_|__sanitizer_|_init$|_fini$)' exported | diff declared -
