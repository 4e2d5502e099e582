/* test_interleave.c -- several strings in one: round trips, prefixes, illegal segments. */
#include "cmocka_all.h"
#include "codec/entropy/interleave.h"
#include "pictures.h"
#include <math.h>
#include <string.h>

enum { MOST_STRINGS = 9 };

static codec_interleaved begin(uint32_t n, formats_account *account) {
    static formats_buffer string[MOST_STRINGS];
    static uint32_t length[MOST_STRINGS];
    codec_interleaved s = {.n = n, .string = string, .length = length};
    codec_interleaved_begin(&s, account);
    return s;
}

typedef struct fixture {
    uint32_t n;
    formats_buffer string[MOST_STRINGS], chunk;
} fixture;

/* Random strings, of which some are empty or short, in some segments. */
static void make(fixture *f, uint32_t n, uint64_t *state) {
    uint64_t at[MOST_STRINGS] = {0}, to[MOST_STRINGS];
    *f = (fixture){.n = n, .chunk = formats_buffer_make(1 << 24)};
    for (uint32_t i = 0; i < n; i++) f->string[i] = formats_buffer_make(1 << 24);
    for (uint64_t k = 1 + picture_random(state) % 4; k > 0; k--) {
        for (uint32_t i = 0; i < n; i++) {
            uint64_t more = picture_random(state) % 3 ? picture_random(state) % 700 : i == k % n;
            for (uint64_t b = 0; b < more; b++)
                formats_write_u8(&f->string[i], (uint8_t)picture_random(state));
            to[i] = f->string[i].size;
        }
        if (to[k % n] == at[k % n]) formats_write_u8(&f->string[k % n], 7), to[k % n]++;
        assert_int_equal(codec_segment_write(f->string, at, to, n, &f->chunk), TAPER_OK);
        memcpy(at, to, sizeof at);
    }
}

static void drop(fixture *f) {
    for (uint32_t i = 0; i < f->n; i++) formats_buffer_free(&f->string[i]);
    formats_buffer_free(&f->chunk);
}

static void assert_prefixes(const fixture *f, const codec_interleaved *s, int whole) {
    for (uint32_t i = 0; i < f->n; i++) {
        const formats_buffer *all = &f->string[i], *known = &s->string[i];
        assert_true(known->size <= all->size);
        if (whole) assert_int_equal(known->size, all->size);
        if (known->size) assert_memory_equal(known->data, all->data, known->size);
    }
}

static void pieces_of_any_size_give_the_strings(void **unused) {
    (void)unused;
    uint64_t state = 3;
    for (uint32_t round = 0; round < 60; round++) {
        fixture f;
        make(&f, 1 + round % MOST_STRINGS, &state);
        codec_interleaved s = begin(f.n, NULL);
        for (int again = 0; again < 2; again++) {
            for (size_t at = 0; at < f.chunk.size;) {
                size_t step = 1 + picture_random(&state) % (again ? 5 : 300);
                at = f.chunk.size - at < step ? f.chunk.size : at + step;
                assert_int_equal(codec_interleaved_read(&s, f.chunk.data, at), TAPER_OK);
                assert_prefixes(&f, &s, at == f.chunk.size);
            }
            codec_interleaved_clear(&s);
        }
        codec_interleaved_end(&s);
        drop(&f);
    }
}

/* At any cut of a segment each string has its share, up to a piece. */
static void cuts_have_equal_shares(void **unused) {
    (void)unused;
    enum { N = 3 };
    const uint64_t from[N] = {0}, to[N] = {4000, 1000, 2500};
    formats_buffer string[N], chunk = formats_buffer_make(1 << 16);
    for (int i = 0; i < N; i++) {
        string[i] = formats_buffer_make(1 << 16);
        memset(formats_buffer_extend(&string[i], (size_t)to[i]), 'a' + i, (size_t)to[i]);
    }
    assert_int_equal(codec_segment_write(string, from, to, N, &chunk), TAPER_OK);
    for (size_t cut = 6; cut <= chunk.size; cut += 37) {
        codec_interleaved s = begin(N, NULL);
        assert_int_equal(codec_interleaved_read(&s, chunk.data, cut), TAPER_OK);
        for (int i = 0; i < N; i++) {
            double share = (double)(cut - 6) * (double)to[i] / 7500;
            assert_true(fabs((double)s.string[i].size - share) <= 2 * CODEC_SEGMENT_PIECE);
        }
        codec_interleaved_end(&s);
    }
    for (int i = 0; i < N; i++) formats_buffer_free(&string[i]);
    formats_buffer_free(&chunk);
}

/* Nothing is read from an illegal segment on; what was read before stays. */
static void illegal_segments_end_it(void **unused) {
    (void)unused;
    static const uint8_t chunks[][16] = {
        {1, 1, 'a', 'b', 0, 0, 1, 1, 'c', 'd'},                           /* an empty segment */
        {1, 1, 'a', 'b', 1, 0x80, 0x80, 0x80, 0x80, 0x10, 'c', 'd'},      /* 2^32 bytes */
        {1, 1, 'a', 'b', 1, 0x80, 0x00, 'c', 'd'},                        /* a long form */
        {1, 1, 'a', 'b', 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1}, /* no end */
    };
    for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
        codec_interleaved s = begin(2, NULL);
        for (size_t at = 0; at <= sizeof *chunks; at++)
            assert_int_equal(codec_interleaved_read(&s, chunks[c], at), TAPER_OK);
        assert_true(s.bad);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(s.string[i].size, 1);
            assert_int_equal(s.string[i].data[0], 'a' + i);
        }
        codec_interleaved_end(&s);
    }
}

/* Lengths far beyond the bytes take no memory; strings stay within their account. */
static void memory_follows_the_bytes(void **unused) {
    (void)unused;
    uint8_t chunk[10 + 5000] = {0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F};
    formats_account account = {.limit = 20000};
    codec_interleaved s = begin(2, &account);
    assert_int_equal(codec_interleaved_read(&s, chunk, sizeof chunk), TAPER_OK);
    assert_int_equal(s.string[0].size + s.string[1].size, 5000);
    codec_interleaved_end(&s);
    assert_int_equal(account.used, 0);
    account.limit = 3000;
    s = begin(2, &account);
    assert_int_equal(codec_interleaved_read(&s, chunk, sizeof chunk), TAPER_ERR_LIMIT);
    codec_interleaved_end(&s);
    assert_int_equal(account.used, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_any_size_give_the_strings),
        cmocka_unit_test(cuts_have_equal_shares),
        cmocka_unit_test(illegal_segments_end_it),
        cmocka_unit_test(memory_follows_the_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
