/* test_parking.c -- groups that are packed while others are in work: the state that is made again
 * is that of a group that was never packed, and so are the pixels. */
#include "cmocka_all.h"
#include "codec/parking/awake_strips.h"
#include "codec/parking/packed_rows.h"
#include "model_zoo.h"
#include "pictures.h"

/* --- rows ------------------------------------------------------------------------------ */

static void rows_are_unpacked_as_they_were(void **unused) {
    (void)unused;
    enum { MOST = 200 };
    static const struct {
        int32_t most, one_in;
        int signs;
    } kinds[] = {{0, 1, 0}, {1, 1, 0},   {1, 9, 0},   {1, 2, 1},
                 {9, 3, 1}, {127, 1, 1}, {128, 5, 1}, {32767, 40, 1}};
    uint64_t seed = 3;
    for (uint32_t n = 1; n <= MOST; n += 1 + n / 9)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            int16_t row[MOST + 1] = {0}, got[MOST + 1] = {0};
            int8_t bytes[MOST + 1] = {0}, got_bytes[MOST + 1] = {0};
            uint8_t packed[1 + MOST / 8 + 1 + 2 * MOST];
            for (uint32_t p = 0; p < n; p++) {
                if (picture_random(&seed) % (uint64_t)kinds[k].one_in) continue;
                const int32_t value =
                    (int32_t)(picture_random(&seed) % 32768) % (kinds[k].most + 1);
                row[p] = (int16_t)(kinds[k].signs && picture_random(&seed) & 1 ? -value : value);
                bytes[p] = (int8_t)row[p];
            }
            row[n] = got[n] = 77, bytes[n] = got_bytes[n] = 77; /* not of the row */
            const size_t size = codec_pack_row(row, 2, n, packed);
            assert_true(size <= 1 + (n + 7) / 8 + 2 * n);
            assert_int_equal(size, codec_pack_row(row, 2, n, NULL));
            assert_int_equal(codec_unpack_row(packed, 2, n, got), size);
            assert_memory_equal(row, got, sizeof row);
            const size_t fewer = codec_pack_row(bytes, 1, n, packed);
            assert_int_equal(fewer, codec_pack_row(bytes, 1, n, NULL));
            assert_int_equal(codec_unpack_row(packed, 1, n, got_bytes), fewer);
            assert_memory_equal(bytes, got_bytes, sizeof bytes);
            if (!kinds[k].most) assert_int_equal(size + fewer, 2);
        }
}

/* --- states ---------------------------------------------------------------------------- */

#define SAME(a, b, n) assert_memory_equal(a, b, (n) * sizeof *(a))

static void assert_same_levels(const codec_group *a, const codec_group *b) {
    assert_int_equal(a->pass, b->pass);
    assert_int_equal(a->position, b->position);
    SAME(a->depth, b->depth, a->tables->units);
    SAME(a->fraction, b->fraction, a->tables->units);
    for (size_t u = 0, at = 0; u < a->tables->units; u++, at += a->stride) {
        SAME(a->level + at, b->level + at, a->n);
        SAME(a->plane_known + at, b->plane_known + at, a->n);
    }
}

static void assert_same_norms(const codec_group *a, const codec_group *b) {
    if (!a->norm) return;
    assert_int_equal(a->norms, b->norms);
    for (size_t u = 0, at = 0; u < a->norms; u++, at += a->stride) {
        SAME(a->norm + at, b->norm + at, a->n + 1);
        if (a->signed_norm && u < CODEC_SIGNED_UNITS)
            SAME(a->signed_norm + at, b->signed_norm + at, a->n);
    }
}

static void assert_same_conditional(const codec_chunk_coder *x, const codec_chunk_coder *y) {
    const codec_conditional_state *a = &x->contexts.conditional, *b = &y->contexts.conditional;
    const codec_group *g = &x->group;
    if (!codec_conditional_is_needed(a, g)) return;
    SAME(a->planes, b->planes, a->model->own);
    SAME(a->fractions, b->fractions, a->model->own);
    SAME(a->seen, b->seen, a->model->own * (size_t)g->n);
    SAME(a->sum, b->sum, a->model->hidden * (size_t)g->n);
    assert_int_equal(a->stages, b->stages);
    const uint32_t pass = codec_model_pass(g->tables, g->pass);
    if (a->stages == codec_conditional_stage(a->model, pass) + 1)
        SAME(a->hidden, b->hidden, a->model->hidden * (size_t)g->n);
}

/* The contexts of a pass that has begun. */
static void assert_same_contexts(const codec_chunk_coder *x, const codec_chunk_coder *y) {
    const codec_context_model *a = &x->contexts, *b = &y->contexts;
    const uint32_t n = x->group.n, next = x->group.position;
    /* one that was asked for, and needs more bytes, is no longer stale */
    assert_int_equal(codec_contexts_at(a, &x->group, next), codec_contexts_at(b, &y->group, next));
    SAME(a->context, b->context, n);
    SAME(a->logit, b->logit, n);
    assert_int_equal(a->has_flags, b->has_flags);
    if (a->has_flags) SAME(a->most, b->most, (n + CODEC_BLOCK - 1) / CODEC_BLOCK);
    assert_int_equal(a->causal.on, b->causal.on);
    if (!a->causal.on) return;
    SAME(a->causal.known, b->causal.known, n);
    SAME(a->causal.left, b->causal.left, n);
    SAME(a->causal.right, b->causal.right, n);
}

/* a was never parked. */
static void assert_same_state(const codec_strips *a, const codec_strips *b) {
    assert_int_equal(a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        const codec_chunk_coder *x = &a->coder[i], *y = &b->coder[i];
        assert_same_levels(&x->group, &y->group);
        assert_int_equal(codec_strips_can_code(a), codec_strips_can_code(b));
        if (!codec_strips_can_code(a)) continue;
        assert_same_norms(&x->group, &y->group);
        SAME(&x->contexts.bit, &y->contexts.bit, 1);
        SAME(&x->contexts.flag, &y->contexts.flag, 1);
        SAME(&x->contexts.within, &y->contexts.within, 1);
        assert_same_conditional(x, y);
        if (x->predicted && !x->group.tables->density) assert_same_contexts(x, y);
    }
}

/* --- decoders -------------------------------------------------------------------------- */

typedef enum way { PUSHED, SUPPLIED } way;

static void feed(taper_decoder *d, way by, const formats_buffer *file, size_t from, size_t to) {
    assert_int_equal(by == PUSHED
                         ? taper_decoder_push(d, file->data + from, to - from, NULL)
                         : taper_decoder_supply(d, from, file->data + from, to - from, NULL),
                     TAPER_OK);
}

/* Park all groups. */
static void park_all(taper_decoder *d, way by) {
    codec_awake_strips *awake = by == PUSHED ? &d->pushing.awake : &d->supplying.groups.awake;
    const uint64_t before = d->account.used;
    uint64_t most = 0;
    for (uint32_t i = 0; i < awake->n; i++)
        if (awake->strips[i]->n && codec_strips_have_levels(awake->strips[i])) most++;
    codec_awake_keep(awake, NULL);
    assert_int_equal(awake->n, 0);
    if (most) assert_true(d->account.used < before);
}

static codec_strips *strips_of(taper_decoder *d, way by, uint32_t k) {
    if (by == PUSHED) return d->pushing.reader[k] ? &d->pushing.reader[k]->strips : NULL;
    return k < d->supplying.groups.n ? &d->supplying.groups.group[k]->reader.strips : NULL;
}

static void assert_same_states(taper_decoder *a, taper_decoder *b, way by) {
    const uint32_t groups = a->own.front.groups;
    for (uint32_t k = 0; a->front_ready && k < groups; k++) {
        codec_strips *x = strips_of(a, by, k), *y = strips_of(b, by, k);
        assert_int_equal(x != NULL, y != NULL);
        if (!x || !x->n) continue;
        assert_int_equal(codec_strips_wake(y, 1), TAPER_OK);
        codec_awake_use(by == PUSHED ? &b->pushing.awake : &b->supplying.groups.awake, y, NULL);
        assert_same_state(x, y);
    }
}

static void assert_same_image(taper_decoder *a, taper_decoder *b, uint64_t i) {
    taper_image_info info = {.size = sizeof info};
    taper_completeness x = {0}, y = {0};
    const taper_container *c = taper_decoder_container(a);
    if (!c) return;
    assert_int_equal(taper_container_get_image(c, i, &info, NULL), TAPER_OK);
    taper_image left = {.pixels = malloc((size_t)info.bytes)},
                right = {.pixels = malloc((size_t)info.bytes)};
    assert_true(left.pixels && right.pixels);
    assert_int_equal(taper_decoder_render(a, i, &left, &x, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_render(b, i, &right, &y, NULL), TAPER_OK);
    assert_memory_equal(left.pixels, right.pixels, (size_t)info.bytes);
    assert_int_equal(x.passes, y.passes);
    assert_int_equal(x.bytes, y.bytes);
    assert_int_equal(x.complete, y.complete);
    assert_int_equal(x.exact_rows, y.exact_rows);
    free(left.pixels), free(right.pixels);
}

/* A file in pieces, to a decoder that is left alone, and to one whose groups are parked before each
 * piece and before rendering. */
static void decode_beside(const taper_model *model, const formats_buffer *file, way by,
                          uint64_t images, size_t pieces, unsigned threads) {
    taper_decoder *a = zoo_new(model), *b = zoo_new(model);
    assert_int_equal(taper_decoder_set_threads(b, threads, NULL), TAPER_OK);
    size_t at = 0;
    for (size_t p = 1; p <= pieces; p++) {
        const size_t end = file->size * p / pieces;
        park_all(b, by);
        feed(a, by, file, at, end), feed(b, by, file, at, end);
        at = end;
        for (uint64_t i = p % 2; i < images; i += 1 + p % 3) {
            assert_same_image(a, b, i);
            if ((i + p) % 4 == 0) park_all(b, by);
            if ((i + p) % 5 == 0) assert_same_image(a, b, i); /* woken for reading */
        }
        assert_same_states(a, b, by);
    }
    close_decoder(a), close_decoder(b);
}

static void small_images_of_all_kinds(void **unused) {
    (void)unused;
    static model_zoo zoo;
    zoo_make(&zoo);
    for (int m = 0; m < ZOO_MODELS; m++)
        for (int k = 0; k < ZOO_FILES; k++)
            for (way by = PUSHED; by <= SUPPLIED; by++)
                decode_beside(zoo.model[m], &zoo.file[m][k], by, ZOO_IMAGES, 30, 1);
    zoo_free(&zoo);
}

static void strips_and_planes_of_images(void **unused) {
    (void)unused;
    static const taper_encode_options options[] = {
        {.quick = 1, .target_bytes_per_megapixel = 125000}, {.quick = 1, .lossless = 1}};
    taper_model *photo = zoo_builtin("photo");
    taper_image large = picture_scene(300, 1400, 3, 5), clear = picture_scene(70, 50, 4, 2);
    const taper_image two[2] = {clear, picture_scene(40, 90, 3, 7)};
    formats_buffer strips = dct_encode(photo, &large, 1, &options[0], 0),
                   planes = dct_encode(photo, two, 2, &options[1], 0);
    for (way by = PUSHED; by <= SUPPLIED; by++) {
        decode_beside(photo, &strips, by, 1, 12, 1 + (unsigned)by);
        decode_beside(photo, &planes, by, 2, 25, 1);
    }
    formats_buffer_free(&strips), formats_buffer_free(&planes);
    formats_image_free(&large), formats_image_free(&clear);
    taper_image second = two[1];
    formats_image_free(&second);
    taper_model_free(photo);
}

/* --- limits ---------------------------------------------------------------------------- */

/* Without memory to park, or to wake, nothing changes, and later both are done. */
static void without_memory_a_state_stays_as_it_is(void **unused) {
    (void)unused;
    static model_zoo zoo;
    zoo_make(&zoo);
    const formats_buffer *file = &zoo.file[2][1];
    taper_decoder *a = zoo_new(zoo.model[2]), *b = zoo_new(zoo.model[2]);
    const size_t half = file->size / 2;
    feed(a, PUSHED, file, 0, half), feed(b, PUSHED, file, 0, half);
    assert_same_image(a, b, 0);
    codec_strips *strips = strips_of(b, PUSHED, 0);
    const uint64_t limit = b->account.limit;
    b->account.limit = b->account.used;
    assert_int_equal(codec_strips_park(strips), TAPER_ERR_LIMIT);
    assert_same_state(strips_of(a, PUSHED, 0), strips);
    b->account.limit = limit;
    assert_int_equal(codec_strips_park(strips), TAPER_OK);
    assert_int_equal(codec_strips_park(strips), TAPER_OK);
    assert_false(codec_strips_have_levels(strips));
    b->account.limit = b->account.used;
    for (int for_coding = 0; for_coding < 2; for_coding++)
        for (uint64_t less = codec_strips_missing(strips); less; less /= 2) {
            const uint64_t used = b->account.used;
            b->account.limit = used + codec_strips_missing(strips) - less;
            if (codec_strips_wake(strips, for_coding) == TAPER_OK)
                assert_int_equal(codec_strips_park(strips), TAPER_OK);
            assert_false(codec_strips_have_levels(strips));
            assert_int_equal(b->account.used, used);
        }
    uint8_t pixels[4096];
    taper_image out = {.pixels = pixels};
    taper_error error = {0};
    b->account.limit = b->account.used + 1000;
    assert_int_equal(taper_decoder_render(b, 0, &out, NULL, &error), TAPER_ERR_LIMIT);
    b->account.limit = limit;
    assert_same_image(a, b, 0);
    feed(a, PUSHED, file, half, file->size), feed(b, PUSHED, file, half, file->size);
    for (uint64_t i = 0; i < ZOO_IMAGES; i++) assert_same_image(a, b, i);
    assert_same_states(a, b, PUSHED);
    close_decoder(a), close_decoder(b);
    zoo_free(&zoo);
}

/* All groups of a set are pushed, or supplied, and few of them are awake: memory is that of few. */
static void few_are_awake(void **unused) {
    (void)unused;
    enum { IMAGES = 12, SIDE = 512 };
    const taper_encode_options options = {
        .quick = 1, .target_bytes_per_megapixel = 6000, .layout = TAPER_LAYOUT_IMAGE};
    taper_model *tiny = zoo_builtin("tiny");
    taper_image image[IMAGES];
    for (unsigned i = 0; i < IMAGES; i++) image[i] = picture_scene(SIDE, SIDE, 3, i);
    formats_buffer file = dct_encode(tiny, image, IMAGES, &options, 0);
    for (way by = PUSHED; by <= SUPPLIED; by++) {
        taper_decoder *d = zoo_new(tiny);
        codec_decoder_image loaded;
        feed(d, by, &file, 0, file.size);
        for (uint64_t i = 0; i < IMAGES; i++)
            assert_int_equal(codec_decoder_load_image(d, i, UINT32_MAX, &loaded, NULL), TAPER_OK);
        uint64_t held = 0, most = 0, awake = 0;
        for (uint32_t k = 0; k < IMAGES; k++) {
            const codec_strips *s = strips_of(d, by, k);
            held += codec_strips_held(s);
            awake += codec_strips_have_levels(s);
            most += codec_strips_bytes(s->coder->group.tables, &s->shape);
        }
        assert_true(awake >= 1 && awake < IMAGES);
        assert_true(held < CODEC_MOST_AWAKE_BYTES + most / 4);
        assert_true(d->account.used >= held);
        close_decoder(d);
    }
    for (unsigned i = 0; i < IMAGES; i++) formats_image_free(&image[i]);
    formats_buffer_free(&file);
    taper_model_free(tiny);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_unpacked_as_they_were),
        cmocka_unit_test(small_images_of_all_kinds),
        cmocka_unit_test(strips_and_planes_of_images),
        cmocka_unit_test(without_memory_a_state_stays_as_it_is),
        cmocka_unit_test(few_are_awake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
