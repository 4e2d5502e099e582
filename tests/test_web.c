/* test_web.c -- what the build for browsers has of its own: zstd frames against libzstd, formatted
 * text against the C library, memory by what is written into it. */
#include "cmocka_all.h"
#include "web/libc/heap.h"
#include "web/libc/print.h"
#include "web/zstd/frame.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* --- frames ---------------------------------------------------------------------------- */

static uint32_t state;
static uint32_t drawn(uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (uint32_t)(((uint64_t)state * below) >> 32);
}

enum { MOST = 700000, KINDS = 7 };

/* Bytes of different kinds: random, few symbols, skewed, runs, text that repeats, zeros,
 * a mixture. */
static void draw_bytes(uint8_t *to, size_t n, unsigned kind) {
    for (size_t i = 0; i < n; i++) {
        unsigned k = kind == 6 ? (unsigned)(i >> 12) % 6 : kind;
        uint32_t back = 1 + drawn(i < 60000 ? (uint32_t)i + 1 : 60000);
        to[i] = k == 0   ? (uint8_t)drawn(256)
                : k == 1 ? (uint8_t)("abcd"[drawn(4)])
                : k == 2 ? (uint8_t)(drawn(16) ? drawn(3) : drawn(256))
                : k == 3 ? (uint8_t)(i && drawn(50) ? to[i - 1] : drawn(256))
                         : 0;
        if (k == 4) {
            size_t run = 3 + drawn(40);
            for (; run && i < n; run--, i++)
                to[i] = back <= i && drawn(200) ? to[i - back] : (uint8_t)drawn(60);
            i--;
        }
    }
}

static void unpacks_what_libzstd_packs(void **unused) {
    (void)unused;
    static const size_t sizes[] = {0,   1,    2,    3,     100,    255,    256,
                                   257, 1000, 5000, 65791, 131072, 300000, MOST};
    static const int levels[] = {-5, 1, 3, 9, 19};
    uint8_t *from = malloc(MOST), *to = malloc(MOST + 1);
    const size_t bound = ZSTD_compressBound(MOST);
    uint8_t *frame = malloc(bound);
    assert_non_null(from);
    assert_non_null(to);
    assert_non_null(frame);
    state = 1;
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
                const size_t n = sizes[s];
                if (n > 100000 && levels[l] == 9) continue;
                draw_bytes(from, n, kind);
                size_t packed = ZSTD_compress(frame, bound, from, n, levels[l]);
                assert_false(ZSTD_isError(packed));
                assert_int_equal(web_zstd_content_size(frame, packed), n);
                assert_int_equal(web_zstd_unpack(to, n + 1, frame, packed), n);
                assert_memory_equal(to, from, n);
                if (n)
                    assert_int_equal(web_zstd_unpack(to, n - 1, frame, packed), WEB_ZSTD_DAMAGED);
                assert_int_equal(web_zstd_unpack(to, n, frame, packed - 1), WEB_ZSTD_DAMAGED);
            }
    free(from);
    free(to);
    free(frame);
}

/* A damaged frame is refused, or unpacks to what libzstd makes of it. */
static void damaged_frames_are_refused(void **unused) {
    (void)unused;
    enum { N = 6000, ROOM = 20000 };
    static uint8_t from[N], frame[ROOM], damaged[ROOM], ours[ROOM], theirs[ROOM];
    int refused = 0, tried = 0;
    state = 2;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        draw_bytes(from, N, kind);
        const size_t packed = ZSTD_compress(frame, ROOM, from, N, 19);
        for (int k = 0; k < 1500; k++, tried++) {
            memcpy(damaged, frame, packed);
            for (uint32_t changes = 1 + drawn(3); changes; changes--)
                damaged[drawn(drawn(2) || packed < 40 ? (uint32_t)packed : 40)] ^=
                    (uint8_t)(1 << drawn(8));
            const size_t size = drawn(4) ? packed : drawn((uint32_t)packed);
            const size_t a = web_zstd_unpack(ours, ROOM, damaged, size);
            const size_t b = ZSTD_decompress(theirs, ROOM, damaged, size);
            refused += a == WEB_ZSTD_DAMAGED;
            if (a == WEB_ZSTD_DAMAGED || ZSTD_isError(b)) continue;
            assert_int_equal(a, b);
            assert_memory_equal(ours, theirs, a);
        }
    }
    assert_in_range(refused, tried / 4, tried - 1);
}

/* --- text ------------------------------------------------------------------------------ */

static void check_text(size_t room, const char *form, ...) {
    char ours[80], theirs[80];
    va_list args;
    memset(ours, '?', sizeof ours);
    memset(theirs, '?', sizeof theirs);
    va_start(args, form);
    const int a = web_vprint(ours, room, form, args);
    va_end(args);
    va_start(args, form);
    const int b = vsnprintf(theirs, room, form, args);
    va_end(args);
    assert_int_equal(a, b);
    assert_memory_equal(ours, theirs, sizeof ours);
}

static void text_is_as_of_the_c_library(void **unused) {
    (void)unused;
    for (size_t room = 0; room < 60; room += room < 12 ? 1 : 23) {
        check_text(room, "%s", "plain");
        check_text(room, "%d of %u: %s%%%c", -12, 34U, "text", 'x');
        check_text(room, "%llu %016llx %02x", 18446744073709551615ULL, 0xabcdefULL, 7U);
        check_text(room, "%zu %.4s %.200s|%6d|%04d", (size_t)99, "abcdef", "gh", -5, -5);
        check_text(room, "%lld", -9223372036854775807LL - 1);
    }
}

/* --- memory ---------------------------------------------------------------------------- */

enum { ARENA = 1 << 20, HELD = 64 };
static _Alignas(16) char arena[ARENA];
static char *arena_end;

/* Memory comes in pieces, until the arena ends. */
static size_t more_arena(size_t least) {
    const size_t left = (size_t)(arena + ARENA - arena_end), n = least < 5000 ? 5000 : least;
    if (least > left) return 0;
    arena_end += n < left ? n : left;
    return n < left ? n : left;
}

/* A block, all of whose bytes have a value of its own. */
typedef struct held {
    uint8_t *at, value;
    size_t size;
} held;

static void check_held(const held *h) {
    for (size_t k = 0; k < h->size; k++) assert_int_equal(h->at[k], h->value);
}

static void fill_held(held *h, void *at, size_t size) {
    h->at = at, h->size = size, h->value = (uint8_t)(1 + drawn(255));
    assert_int_equal((uintptr_t)at % WEB_HEAP_ALIGN, 0);
    assert_true(h->at >= (uint8_t *)arena && h->at + size <= (uint8_t *)arena_end);
    memset(at, h->value, size);
}

/* Resizes a block: its bytes stay. false: there is no memory, and it is as it was. */
static int resize_held(web_heap *heap, held *h, size_t size) {
    held moved = *h;
    uint8_t *at = web_heap_resize(heap, h->at, size);
    if (!at) {
        check_held(h);
        return 0;
    }
    moved.at = at, moved.size = size < h->size ? size : h->size;
    check_held(&moved);
    fill_held(h, at, size);
    return 1;
}

static size_t drawn_size(void) {
    return drawn(4) ? drawn(200) : drawn(8) ? drawn(5000) : drawn(90000);
}

/* One call; true: it got what it asked for. */
static int one_call(web_heap *heap, held *h) {
    const size_t size = drawn_size();
    if (h->at && drawn(2)) return resize_held(heap, h, size);
    if (h->at) {
        check_held(h);
        web_heap_give(heap, h->at);
        h->at = NULL;
        return 1;
    }
    const int zeros = drawn(2) == 0;
    uint8_t *at = zeros ? web_heap_take_zeros(heap, size, 1) : web_heap_take(heap, size);
    for (size_t k = 0; at && zeros && k < size; k++) assert_int_equal(at[k], 0);
    if (at) fill_held(h, at, size);
    return at != NULL;
}

/* Blocks do not overlap, keep their bytes, and are given back whole. */
static void memory_keeps_what_is_written(void **unused) {
    (void)unused;
    for (state = 1; state < 12; state += 3) {
        const uint32_t seed = state;
        static web_heap heap;
        held block[HELD] = {0};
        int refused = 0;
        memset(arena, 0, sizeof arena);
        arena_end = arena + 1000;
        web_heap_begin(&heap, arena + drawn(16), arena_end, more_arena);
        for (int k = 0; k < 8000; k++) refused += !one_call(&heap, &block[drawn(HELD)]);
        assert_true(refused < 800);
        for (int k = 0; k < HELD; k++) {
            if (block[k].at) check_held(&block[k]);
            web_heap_give(&heap, block[k].at);
        }
        assert_ptr_equal(heap.top, heap.first);
        assert_null(web_heap_take(&heap, ARENA));
        assert_null(web_heap_take(&heap, SIZE_MAX));
        assert_null(web_heap_take_zeros(&heap, SIZE_MAX / 2, 4));
        state = seed;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(unpacks_what_libzstd_packs),
                                       cmocka_unit_test(damaged_frames_are_refused),
                                       cmocka_unit_test(text_is_as_of_the_c_library),
                                       cmocka_unit_test(memory_keeps_what_is_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
