/* test_range_coder.c -- the range coder: round trips, carries, prefixes, its tables of integers. */
#include "cmocka_all.h"
#include "codec/entropy/fixed_log.h"
#include "codec/entropy/range_coder.h"
#include "pictures.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BITS = 6000, SEED = 20 };

/* A sequence of bits with their probabilities. */
typedef struct sequence {
    uint8_t bit[BITS];
    uint16_t p1[BITS];
    int n;
} sequence;

/* kind 0: bits as likely as p1 says; 1: the likely bit always; 2: the unlikely one; 3: all ones;
 * 4: all zeros; 5: bits and extreme probabilities at random. */
static void make_sequence(sequence *s, int n, int kind, uint64_t *state) {
    s->n = n;
    for (int i = 0; i < n; i++) {
        uint64_t r = picture_random(state);
        uint32_t p = kind == 5 ? (r & 1 ? 1 : 65535) : 1 + (uint32_t)(r >> 16) % 65535;
        if (kind == 5 && (r & 6) == 0) p = 32768;
        int likely = p >= 32768;
        int drawn = (uint32_t)(r >> 40) % 65536 < p;
        s->p1[i] = (uint16_t)p;
        s->bit[i] = (uint8_t)(kind == 1   ? likely
                              : kind == 2 ? !likely
                              : kind == 3 ? 1
                              : kind == 4 ? 0
                              : kind == 5 ? (int)(r >> 50 & 1)
                                          : drawn);
    }
}

static void encode(const sequence *s, formats_buffer *out) {
    codec_rc_encoder rc;
    codec_rc_encoder_init(&rc, out);
    for (int i = 0; i < s->n; i++) codec_rc_encode(&rc, s->bit[i], s->p1[i]);
    codec_rc_encoder_finish(&rc);
    assert_int_equal(out->status, TAPER_OK);
}

static void check_whole(const sequence *s, const uint8_t *bytes, size_t size) {
    codec_rc_decoder rc;
    codec_rc_decoder_init(&rc, bytes, size, 1);
    for (int i = 0; i < s->n; i++)
        if (codec_rc_decode(&rc, s->p1[i]) != s->bit[i]) fail_msg("bit %d of %d differs", i, s->n);
}

static void round_trips(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    printf("seed %d\n", SEED);
    static sequence s;
    for (int round = 0; round < 300; round++) {
        make_sequence(&s, round < 120 ? round / 6 : (int)(picture_random(&state) % 400), round % 6,
                      &state);
        formats_buffer out = formats_buffer_make(1 << 20);
        formats_write_u8(&out, 0xFF); /* what lies before is not the string's: no carry enters it */
        encode(&s, &out);
        assert_int_equal(out.data[0], 0xFF);
        check_whole(&s, out.data + 1, out.size - 1);
        formats_buffer_free(&out);
    }
}

/* Ideal length, within the bytes that ending costs. */
static void length_is_ideal(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    static sequence s;
    make_sequence(&s, BITS, 0, &state);
    double ideal = 0;
    for (int i = 0; i < s.n; i++) ideal -= log2((s.bit[i] ? s.p1[i] : 65536 - s.p1[i]) / 65536.0);
    formats_buffer out = formats_buffer_make(1 << 20);
    encode(&s, &out);
    assert_true((double)out.size >= ideal / 8);
    assert_true((double)out.size <= ideal / 8 * 1.0001 + 2);
    formats_buffer_free(&out);
}

static void empty_and_certain_strings_are_short(void **unused) {
    (void)unused;
    static sequence s = {.n = 0};
    formats_buffer out = formats_buffer_make(1 << 20);
    encode(&s, &out);
    assert_int_equal(out.size, 0);
    s.n = 1000; /* a thousand certain bits of either value */
    for (int value = 0; value < 2; value++) {
        for (int i = 0; i < s.n; i++) s.bit[i] = (uint8_t)value, s.p1[i] = value ? 65504 : 32;
        formats_buffer_clear(&out);
        encode(&s, &out);
        assert_true(out.size <= 2);
        check_whole(&s, out.data, out.size);
    }
    formats_buffer_free(&out);
}

/* A carry that runs through many bytes of FF: low climbs to the very top of its window, then over.
 */
static void carries_run_far(void **unused) {
    (void)unused;
    formats_buffer out = formats_buffer_make(1 << 20);
    codec_rc_encoder rc;
    codec_rc_encoder_init(&rc, &out);
    formats_write_u8(&out, 0x41);
    for (int i = 0; i < 40; i++) formats_write_u8(&out, 0xFF);
    rc.low = UINT64_MAX - 10;
    rc.range = (uint64_t)1 << 40;
    codec_rc_encode(&rc, 0, 32768); /* low passes 2^64 */
    assert_int_equal(out.data[0], 0x42);
    for (int i = 1; i < 41; i++) assert_int_equal(out.data[i], 0);
    /* and at the end of a string */
    formats_buffer_clear(&out);
    codec_rc_encoder_init(&rc, &out);
    formats_write_u8(&out, 7);
    formats_write_u8(&out, 0xFF);
    rc.low = UINT64_MAX - 10;
    rc.range = (uint64_t)1 << 40;
    codec_rc_encoder_finish(&rc);
    assert_int_equal(out.size, 2);
    assert_int_equal(out.data[0], 8);
    assert_int_equal(out.data[1], 0);
    formats_buffer_free(&out);
}

/* How many bits a decoder gets out of a prefix; all must be right. */
static int bits_of_prefix(const sequence *s, const uint8_t *bytes, size_t size) {
    codec_rc_decoder rc;
    codec_rc_decoder_init(&rc, bytes, size, 0);
    for (int i = 0; i < s->n; i++) {
        int bit = codec_rc_decode(&rc, s->p1[i]);
        if (bit == CODEC_RC_STARVED) {
            codec_rc_decoder before = rc;
            assert_int_equal(codec_rc_decode(&rc, s->p1[i]), CODEC_RC_STARVED);
            assert_memory_equal(&before, &rc, sizeof rc);
            return i;
        }
        if (bit != s->bit[i]) fail_msg("bit %d of a prefix of %zu bytes is wrong", i, size);
    }
    return s->n;
}

/* Every prefix decodes to true bits; more bytes give no fewer; none is held back that all
 * continuations agree on: the next bit must be open, as some continuation shows. */
static void prefixes_give_what_is_certain(void **unused) {
    (void)unused;
    uint64_t state = SEED + 1;
    static sequence s;
    for (int round = 0; round < 24; round++) {
        make_sequence(&s, 500, round % 6, &state);
        formats_buffer out = formats_buffer_make(1 << 20);
        encode(&s, &out);
        int before = 0;
        for (size_t size = 0; size <= out.size; size++) {
            int known = bits_of_prefix(&s, out.data, size);
            assert_true(known >= before);
            before = known;
            if (known == s.n) continue;
            int seen[2] = {0, 0}; /* the open bit under the lowest and the highest continuation */
            for (int high = 0; high < 2; high++) {
                uint8_t *copy = malloc(size + 600);
                assert_non_null(copy);
                memcpy(copy, out.data, size);
                memset(copy + size, high ? 0xFF : 0, 600);
                codec_rc_decoder rc;
                codec_rc_decoder_init(&rc, copy, size + 600, 1);
                for (int i = 0; i < known; i++) (void)codec_rc_decode(&rc, s.p1[i]);
                seen[codec_rc_decode(&rc, s.p1[known])] = 1;
                free(copy);
            }
            if (!(seen[0] && seen[1])) fail_msg("bit %d could be told from %zu bytes", known, size);
        }
        formats_buffer_free(&out);
    }
}

/* Bytes that arrive in pieces lead to the same bits as a whole string, adaptive models included. */
static void extending_goes_on(void **unused) {
    (void)unused;
    uint64_t state = SEED + 2;
    static sequence s;
    for (int round = 0; round < 60; round++) {
        make_sequence(&s, 700, round % 6, &state);
        formats_buffer out = formats_buffer_make(1 << 20);
        codec_rc_encoder encoder;
        codec_rc_encoder_init(&encoder, &out);
        codec_bit model = {32768, 0};
        for (int i = 0; i < s.n; i++) {
            if (i % 3)
                codec_rc_encode(&encoder, s.bit[i], s.p1[i]);
            else
                codec_rc_encode_adaptive(&encoder, s.bit[i], &model);
        }
        codec_rc_encoder_finish(&encoder);
        codec_rc_decoder rc;
        codec_bit own = {32768, 0};
        size_t size = 0;
        int step = 1 + round % 5;
        codec_rc_decoder_init(&rc, out.data, 0, out.size == 0);
        for (int i = 0; i < s.n;) {
            int bit = i % 3 ? codec_rc_decode(&rc, s.p1[i]) : codec_rc_decode_adaptive(&rc, &own);
            if (bit == CODEC_RC_STARVED) {
                assert_true(size < out.size || !rc.whole);
                size = size + (size_t)step < out.size ? size + (size_t)step : out.size;
                codec_rc_decoder_extend(&rc, out.data, size, size == out.size);
                continue;
            }
            assert_int_equal(bit, s.bit[i++]);
        }
        assert_int_equal(own.p1, model.p1);
        formats_buffer_free(&out);
    }
}

/* Bits with adaptive probabilities, most of them 0; some indices have no bit. */
enum { MODELS = 7, MOST = 5 };
typedef struct indexed {
    codec_bit model[MODELS];
    uint16_t index[BITS];
    uint8_t bit[BITS];
} indexed;

static void make_indexed(indexed *s, int one_in, uint64_t *state) {
    for (int m = 0; m < MODELS; m++)
        s->model[m] =
            (codec_bit){(uint16_t)(CODEC_P_MIN + picture_random(state) % (m % 2 ? 40 : 65472)),
                        (uint16_t)(picture_random(state) % (CODEC_BIT_LIMIT + 1))};
    for (int i = 0; i < BITS; i++) {
        uint64_t r = picture_random(state);
        s->index[i] = r % 5 ? (uint16_t)(r % MODELS) : CODEC_RC_NO_BIT;
        s->bit[i] = (r >> 20) % (unsigned)one_in == 0;
    }
}

/* Decode the bits of s, one by one or by runs, of a string that grows by `step` bytes whenever it
 * is used up. */
static void decode_indexed(const indexed *s, int by_runs, const formats_buffer *string, size_t step,
                           codec_bit model[MODELS], codec_rc_decoder *rc) {
    size_t size = 0;
    memcpy(model, s->model, sizeof s->model);
    codec_rc_decoder_init(rc, string->data, 0, string->size == 0);
    for (uint32_t i = 0; i < BITS; i++) {
        if (by_runs) i = codec_rc_decode_zeros(rc, model, s->index, MOST, i, BITS);
        if (i == BITS) break;
        if (s->index[i] == CODEC_RC_NO_BIT) continue;
        int bit = codec_rc_decode_adaptive(rc, &model[s->index[i]]);
        while (bit == CODEC_RC_STARVED) {
            assert_true(size < string->size);
            size = size + step < string->size ? size + step : string->size;
            codec_rc_decoder_extend(rc, string->data, size, size == string->size);
            bit = codec_rc_decode_adaptive(rc, &model[s->index[i]]);
        }
        assert_int_equal(bit, s->bit[i]);
    }
}

/* Encode the bits of s, one by one or by runs. A value is 0 or of one sign for a 1. */
static void encode_indexed(const indexed *s, int by_runs, formats_buffer *string,
                           codec_bit model[MODELS]) {
    static int16_t value[BITS];
    codec_rc_encoder rc;
    memcpy(model, s->model, sizeof s->model);
    for (int i = 0; i < BITS; i++)
        value[i] = (int16_t)((s->bit[i] ? 4 + i % 3 : i % 4) * (i & 1 ? -1 : 1));
    codec_rc_encoder_init(&rc, string);
    for (uint32_t i = 0; i < BITS; i++) {
        if (by_runs) i = codec_rc_encode_zeros(&rc, model, s->index, MOST, value, 3, i, BITS);
        if (i == BITS) break;
        if (s->index[i] == CODEC_RC_NO_BIT) continue;
        codec_rc_encode_adaptive(&rc, s->bit[i], &model[s->index[i]]);
    }
    codec_rc_encoder_finish(&rc);
}

static void runs_of_zeros_are_encoded_alike(void **unused) {
    (void)unused;
    uint64_t state = SEED + 5;
    for (int round = 0; round < 60; round++) {
        static indexed s;
        formats_buffer string[2] = {formats_buffer_make(1 << 20), formats_buffer_make(1 << 20)};
        codec_bit model[2][MODELS];
        make_indexed(&s, 1 << (1 + round % 12), &state);
        for (int by_runs = 0; by_runs < 2; by_runs++)
            encode_indexed(&s, by_runs, &string[by_runs], model[by_runs]);
        assert_memory_equal(model[0], model[1], sizeof model[0]);
        assert_int_equal(string[0].size, string[1].size);
        if (string[0].size) assert_memory_equal(string[0].data, string[1].data, string[0].size);
        formats_buffer_free(&string[0]), formats_buffer_free(&string[1]);
    }
}

static void runs_of_zeros_are_decoded_alike(void **unused) {
    (void)unused;
    uint64_t state = SEED + 4;
    for (int round = 0; round < 60; round++) {
        static indexed s;
        formats_buffer string = formats_buffer_make(1 << 20);
        codec_bit model[3][MODELS];
        codec_rc_encoder encoder;
        codec_rc_decoder rc[2];
        make_indexed(&s, 1 << (1 + round % 12), &state);
        memcpy(model[2], s.model, sizeof s.model);
        codec_rc_encoder_init(&encoder, &string);
        for (int i = 0; i < BITS; i++)
            if (s.index[i] != CODEC_RC_NO_BIT)
                codec_rc_encode_adaptive(&encoder, s.bit[i], &model[2][s.index[i]]);
        codec_rc_encoder_finish(&encoder);
        for (int by_runs = 0; by_runs < 2; by_runs++)
            decode_indexed(&s, by_runs, &string, 1 + (size_t)round % 5, model[by_runs],
                           &rc[by_runs]);
        assert_memory_equal(model[0], model[2], sizeof model[0]);
        assert_memory_equal(model[1], model[2], sizeof model[1]);
        assert_true(rc[0].range == rc[1].range && rc[0].code == rc[1].code);
        assert_true(rc[0].unknown == rc[1].unknown && rc[0].at == rc[1].at);
        formats_buffer_free(&string);
    }
}

/* Every probability, after counts of all kinds: in a string of bytes 0xFF the next bit is 0. */
static void runs_of_zeros_change_models_alike(void **unused) {
    (void)unused;
    static const uint8_t bytes[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    const uint16_t index = 0;
    for (int count = 0; count <= CODEC_BIT_LIMIT; count += count < 390 ? 39 : 1)
        for (int p = CODEC_P_MIN; p <= CODEC_P_MAX; p++) {
            codec_bit model = {(uint16_t)p, (uint16_t)count}, want = model;
            codec_rc_decoder rc;
            codec_rc_decoder_init(&rc, bytes, sizeof bytes, 1);
            if (codec_rc_decode_zeros(&rc, &model, &index, 1, 0, 1) != 1) fail_msg("not a 0");
            codec_bit_update(&want, 0);
            if (model.p1 != want.p1 || model.count != want.count)
                fail_msg("p1 %d, count %d: %d instead of %d", p, count, model.p1, want.p1);
        }
}

/* Whatever the bytes: bits come out, nothing hangs, and what is starved stays so. */
static void any_bytes_decode(void **unused) {
    (void)unused;
    uint64_t state = SEED + 3;
    for (int round = 0; round < 200; round++) {
        uint8_t bytes[24];
        size_t size = picture_random(&state) % sizeof bytes;
        for (size_t i = 0; i < size; i++)
            bytes[i] = round % 2 ? 0xFF : (uint8_t)picture_random(&state);
        codec_rc_decoder rc;
        codec_rc_decoder_init(&rc, bytes, size, round % 3 == 0);
        for (int i = 0; i < 3000; i++) {
            int bit = codec_rc_decode(&rc, 1 + (uint32_t)picture_random(&state) % 65535);
            assert_true(bit == 0 || bit == 1 || (bit == CODEC_RC_STARVED && !rc.whole));
            if (bit == CODEC_RC_STARVED) break;
        }
    }
}

static void adaptive_bits_keep_their_range(void **unused) {
    (void)unused;
    for (int i = 0; i <= CODEC_BIT_LIMIT; i++)
        assert_int_equal(codec_bit_rate[i], lrint(65536 / (i + 1.5)));
    for (int bit = 0; bit < 2; bit++) {
        codec_bit model = {32768, 0};
        uint16_t before = model.p1;
        for (int i = 0; i < 5000; i++) {
            codec_bit_update(&model, bit);
            assert_true(model.p1 >= CODEC_P_MIN && model.p1 <= CODEC_P_MAX);
            assert_true(bit ? model.p1 >= before : model.p1 <= before);
            before = model.p1;
        }
        assert_int_equal(model.count, CODEC_BIT_LIMIT);
        if (bit)
            assert_true(model.p1 > 65000); /* steps round down: it does not quite get there */
        else
            assert_int_equal(model.p1, CODEC_P_MIN);
    }
    codec_bit model = {32768, 0}; /* the mean of what was seen: 1 in 4 */
    for (int i = 0; i < 400; i++) codec_bit_update(&model, i % 4 == 0);
    assert_in_range(model.p1, 65536 / 4 - 500, 65536 / 4 + 500);
}

static void tables_are_what_they_say(void **unused) {
    (void)unused;
    for (int i = 0; i < 16; i++) {
        assert_int_equal(codec_log_fraction[i], lrint(16 * log2(1 + (i + 0.5) / 16)));
        assert_int_equal(codec_exp_fraction[i], lrint(32768 * exp2(i / 16.0)));
    }
    for (int i = 0; i <= 96; i++)
        assert_true(fabs(codec_logistic_table[i] - 65536 / (1 + exp(-(i - 48) / 4.0))) <= 1);
    for (uint32_t x = 1; x < 1u << 31; x += 1 + x / 7)
        assert_true(fabs(codec_log16(x) - 16 * log2(x)) <= 1);
    assert_int_equal(codec_log16(0), 0);
    for (int logit = -1000; logit <= 1000; logit++) {
        double p = 65536 / (1 + exp(-logit / 64.0));
        p = p < 32 ? 32 : p > 65504 ? 65504 : p;
        assert_true(fabs(codec_squash(logit) - p) <= 100);
        assert_true(codec_squash(logit) <= codec_squash(logit + 1));
    }
    assert_int_equal(codec_squash(64), 47911); /* 65536 / (1 + 1 / e) */
}

static void scaling_by_powers(void **unused) {
    (void)unused;
    for (int32_t e = -1200; e <= 1000; e += 7)
        for (uint64_t value = 1; value < (uint64_t)1 << 40; value = value * 5 + 3) {
            double want = (double)value * exp2(e / 16.0);
            uint64_t got = codec_scale_exp2(value, e);
            if (e >= 16 * 24)
                assert_int_equal(got, (uint64_t)1 << 56);
            else
                assert_true(fabs((double)got - want) <= 1 + want * 1e-4);
        }
    assert_int_equal(codec_scale_exp2(0, 900), 0);
    assert_int_equal(codec_scale_exp2(1000, 16), 2000);
    assert_int_equal(codec_scale_exp2(1000, -16), 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(length_is_ideal),
        cmocka_unit_test(empty_and_certain_strings_are_short),
        cmocka_unit_test(carries_run_far),
        cmocka_unit_test(prefixes_give_what_is_certain),
        cmocka_unit_test(extending_goes_on),
        cmocka_unit_test(runs_of_zeros_are_encoded_alike),
        cmocka_unit_test(runs_of_zeros_are_decoded_alike),
        cmocka_unit_test(runs_of_zeros_change_models_alike),
        cmocka_unit_test(any_bytes_decode),
        cmocka_unit_test(adaptive_bits_keep_their_range),
        cmocka_unit_test(tables_are_what_they_say),
        cmocka_unit_test(scaling_by_powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
