/* test_model_stages.c -- models in stages: sets of units, files of which stages are missing,
 * damaged or elsewhere than the header says, and decoders with the first stages alone. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/bitplane/unit_sets.h"
#include "codec/decoder/decoder.h"
#include "formats/model_file.h"
#include "infos.h"
#include "staged_model.h"

/* Of the stages the second restores, and the last refines; the others have a set each. */
enum {
    STAGES = 6,
    SETS = 4,
    ALL_SETS = 5,
    HEADER = FORMATS_MODEL_HEADER,
    ENTRY = FORMATS_MODEL_ENTRY
};

static formats_buffer file;
static taper_model *model;

static int open_model(void **unused) {
    (void)unused;
    file = formats_buffer_make(1 << 24);
    model = staged_model_make(&file);
    return 0;
}

static int close_model(void **unused) {
    (void)unused;
    taper_model_free(model);
    formats_buffer_free(&file);
    return 0;
}

/* Where stage s ends in the file; s = 0: the header. */
static size_t stage_end(uint32_t s) {
    size_t at = HEADER + ENTRY * STAGES;
    for (uint32_t i = 0; i < s; i++)
        at += (size_t)formats_get_u64le(file.data + HEADER + ENTRY * (size_t)i);
    return at;
}

static void seal(uint8_t *h) {
    memset(h + 12, 0, 4);
    formats_set_u32le(h + 12, formats_crc32c(0, h, HEADER + ENTRY * STAGES));
}

static taper_status load(const uint8_t *bytes, size_t size, int stages, uint32_t *known) {
    taper_model *m;
    taper_error error = {0};
    taper_status status =
        (stages ? taper_model_load_stages : taper_model_load)(&m, bytes, size, NULL, &error);
    assert_int_equal(status, error.status);
    assert_int_equal(status == TAPER_OK, m != NULL);
    if (known) *known = m ? info_of_model(m).stages_known : 0;
    taper_model_free(m);
    return status;
}

/* The first k stages. */
static taper_model *with_stages(uint32_t k) {
    taper_model *m;
    assert_int_equal(taper_model_load_stages(&m, file.data, stage_end(k), NULL, NULL), TAPER_OK);
    return m;
}

/* --- sets of units ----------------------------------------------------------------------- */

static void sets_divide_the_units(void **unused) {
    (void)unused;
    const codec_code_tables *t = &model->tables;
    codec_unit_sets sets;
    assert_int_equal(codec_unit_sets_choose(&sets, t), TAPER_OK);
    assert_int_equal(sets.n, SETS);
    uint32_t seen[64] = {0}, fewest[SETS] = {64 / 20, 64 / 8, 64 / 3, 64};
    for (uint32_t s = 0; s < sets.n; s++) {
        codec_unit_set set = codec_unit_sets_get(&sets, s);
        for (uint32_t i = 0; i < set.n; i++) {
            assert_true(i == 0 || set.unit[i] > set.unit[i - 1]);
            assert_int_equal(seen[set.unit[i]]++, 0);
        }
        assert_true(sets.first[s + 1] >= fewest[s]);
        for (uint32_t i = 0; i < set.end; i++) assert_true(seen[t->pass[i].unit]);
        if (s + 1 < sets.n) assert_false(seen[t->pass[set.end].unit]); /* as far as they go */
    }
    codec_unit_sets_free(&sets);
}

static void illegal_sets_are_refused(void **unused) {
    (void)unused;
    const uint32_t n = model->tables.n_passes;
    const struct {
        uint32_t sets, end[3];
        taper_status want;
    } cases[] = {{1, {0}, TAPER_OK},
                 {2, {1}, TAPER_OK},
                 {2, {0}, TAPER_ERR_CORRUPT},
                 {2, {n}, TAPER_ERR_CORRUPT},
                 {2, {n - 1}, TAPER_ERR_CORRUPT}, /* no unit is left */
                 {2, {UINT32_MAX}, TAPER_ERR_CORRUPT},
                 {3, {40, 40}, TAPER_ERR_CORRUPT},
                 {3, {40, 30}, TAPER_ERR_CORRUPT},
                 {3, {1, 2}, TAPER_ERR_CORRUPT}, /* the second pass is of the same unit */
                 {4, {1, 40, 60}, TAPER_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        codec_unit_sets sets;
        taper_status status =
            codec_unit_sets_make(&sets, &model->tables, cases[i].end, cases[i].sets);
        if (status != cases[i].want) fail_msg("case %zu: %d", i, status);
        assert_int_equal(status == TAPER_OK, sets.unit != NULL);
        codec_unit_sets_free(&sets);
    }
}

/* --- the file ---------------------------------------------------------------------------- */

/* Every length around the ends of header and stages, and some between. */
static void every_prefix_is_as_many_stages_as_it_holds(void **unused) {
    (void)unused;
    uint32_t known;
    for (size_t size = 0; size <= file.size;) {
        uint32_t stages = 0;
        while (stages < STAGES && stage_end(stages + 1) <= size) stages++;
        taper_status want = size < 8 ? TAPER_ERR_CORRUPT /* no magic */
                            : stages ? TAPER_OK
                                     : TAPER_ERR_TRUNCATED;
        if (load(file.data, size, 1, &known) != want || known != stages)
            fail_msg("%zu bytes: %u stages", size, known);
        want = size < 8 ? TAPER_ERR_CORRUPT : size < file.size ? TAPER_ERR_TRUNCATED : TAPER_OK;
        assert_int_equal(load(file.data, size, 0, NULL), want);
        int near = size < stage_end(0) + 2;
        for (uint32_t s = 0; s <= STAGES; s++)
            near |= size + 2 >= stage_end(s) && size < stage_end(s) + 2;
        size_t next = size + 997;
        for (uint32_t s = 0; s <= STAGES; s++)
            if (size + 2 < stage_end(s) && next + 2 > stage_end(s)) next = stage_end(s) - 2;
        size = near ? size + 1 : next;
    }
}

static void info_tells_what_is_known(void **unused) {
    (void)unused;
    uint32_t before = 0;
    for (uint32_t k = 1; k <= STAGES; k++) {
        taper_model *m = with_stages(k);
        taper_model_info i = info_of_model(m);
        assert_true(i.stages == STAGES && i.stages_known == k && i.id == model->info.id);
        assert_true(i.file_bytes == file.size && i.passes == model->info.passes);
        assert_true(k == 2 || k > ALL_SETS ? i.passes_known == before : i.passes_known > before);
        assert_int_equal(i.passes_known == i.passes, k >= ALL_SETS);
        assert_int_equal(i.restoration_hidden != 0, k > 1);
        assert_int_equal(i.head_hidden != 0, k > ALL_SETS);
        before = i.passes_known;
        taper_model_free(m);
    }
}

/* A changed byte is seen in the stages that are read, and only there. */
static void damage_is_seen_in_its_stage(void **unused) {
    (void)unused;
    for (uint32_t s = 0; s < STAGES; s++) {
        for (size_t at = stage_end(s); at < stage_end(s + 1);
             at += 1 + (stage_end(s + 1) - at) / 3) {
            uint32_t known;
            file.data[at] ^= 0x10;
            assert_int_equal(load(file.data, file.size, 1, NULL), TAPER_ERR_CORRUPT);
            assert_int_equal(load(file.data, stage_end(s + 1), 1, NULL), TAPER_ERR_CORRUPT);
            assert_int_equal(load(file.data, stage_end(s + 1) - 1, 1, &known),
                             s ? TAPER_OK : TAPER_ERR_TRUNCATED);
            assert_int_equal(known, s);
            file.data[at] ^= 0x10;
        }
    }
    for (size_t at = 8; at < stage_end(0); at++) {
        file.data[at] ^= 0x10;
        assert_int_not_equal(load(file.data, file.size, 1, NULL), TAPER_OK);
        file.data[at] ^= 0x10;
    }
    assert_int_equal(load(file.data, file.size, 1, NULL), TAPER_OK);
}

/* Two stages exchanged, in the file and in its table. Whole it has another id; in part, it cannot
 * be read. */
static void order_of_stages_counts(void **unused) {
    (void)unused;
    for (uint32_t s = 0; s + 1 < STAGES; s++) {
        uint8_t *copy = malloc(file.size), *entry = copy + HEADER + ENTRY * (size_t)s;
        assert_non_null(copy);
        size_t a = stage_end(s), b = stage_end(s + 1), c = stage_end(s + 2);
        memcpy(copy, file.data, file.size);
        memcpy(copy + a, file.data + b, c - b);
        memcpy(copy + a + (c - b), file.data + a, b - a);
        memcpy(entry, file.data + HEADER + ENTRY * (size_t)(s + 1), ENTRY);
        memcpy(entry + ENTRY, file.data + HEADER + ENTRY * (size_t)s, ENTRY);
        seal(copy);
        assert_int_equal(load(copy, file.size, 0, NULL), TAPER_ERR_CORRUPT);
        assert_int_equal(load(copy, file.size, 1, NULL), TAPER_ERR_CORRUPT);
        assert_int_not_equal(load(copy, a + (c - b), 1, NULL), TAPER_OK);
        free(copy);
    }
}

static void sizes_that_lie_are_refused(void **unused) {
    (void)unused;
    const uint64_t large = (uint64_t)1 << 40;
    const struct {
        uint32_t stage, field; /* 0 stored, 8 unpacked */
        uint64_t value;
        taper_status want, in_part; /* in part: the first stage alone */
    } cases[] = {{0, 0, 0, TAPER_ERR_CORRUPT, TAPER_ERR_CORRUPT},
                 {0, 0, 1, TAPER_ERR_CORRUPT, TAPER_ERR_CORRUPT},
                 {0, 0, large, TAPER_ERR_TRUNCATED, TAPER_ERR_TRUNCATED},
                 {0, 8, 0, TAPER_ERR_CORRUPT, TAPER_ERR_CORRUPT},
                 {0, 8, 300, TAPER_ERR_CORRUPT, TAPER_ERR_CORRUPT},
                 {0, 8, large, TAPER_ERR_LIMIT, TAPER_ERR_LIMIT},
                 {2, 0, 0, TAPER_ERR_CORRUPT, TAPER_ERR_CORRUPT},
                 {2, 0, UINT64_MAX, TAPER_ERR_CORRUPT, TAPER_ERR_CORRUPT},
                 {2, 0, large, TAPER_ERR_TRUNCATED, TAPER_OK},
                 {2, 8, 0, TAPER_ERR_CORRUPT, TAPER_ERR_CORRUPT},
                 {2, 8, UINT64_MAX, TAPER_ERR_CORRUPT, TAPER_ERR_CORRUPT},
                 {2, 8, large, TAPER_ERR_LIMIT, TAPER_ERR_LIMIT},
                 {2, 8, 3, TAPER_ERR_CORRUPT, TAPER_OK},
                 {5, 8, 1, TAPER_ERR_CORRUPT, TAPER_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t *at = file.data + HEADER + ENTRY * (size_t)cases[i].stage + cases[i].field;
        const uint64_t was = formats_get_u64le(at);
        const size_t first = stage_end(1);
        formats_set_u64le(at, cases[i].value);
        seal(file.data);
        if (load(file.data, file.size, 0, NULL) != cases[i].want) fail_msg("case %zu", i);
        if (load(file.data, first, 1, NULL) != cases[i].in_part) fail_msg("case %zu in part", i);
        formats_set_u64le(at, was);
        seal(file.data);
    }
    assert_int_equal(load(file.data, file.size, 0, NULL), TAPER_OK);
}

/* A stage that ends a byte before or behind its part: with that stage the last known one, too. */
static void stages_end_with_parts(void **unused) {
    (void)unused;
    formats_model_contents c;
    assert_int_equal(formats_model_unpack(file.data, file.size, 0, NULL, &c, NULL), TAPER_OK);
    for (uint32_t s = 0; s + 1 < STAGES; s++)
        for (int more = -1; more <= 1; more++) {
            formats_buffer other = formats_buffer_make(1 << 24);
            formats_model_stages stages = c.stages;
            stages.end[s] += (size_t)more;
            assert_int_equal(formats_model_pack(c.payload, &stages, &other, NULL), TAPER_OK);
            size_t size = HEADER + ENTRY * STAGES;
            for (uint32_t i = 0; i <= s; i++)
                size += (size_t)formats_get_u64le(other.data + HEADER + ENTRY * (size_t)i);
            taper_status want = more ? TAPER_ERR_CORRUPT : TAPER_OK, part;
            assert_int_equal(load(other.data, other.size, 0, NULL), want);
            part = load(other.data, size, 1, NULL);
            if (more ? part == TAPER_OK : part != TAPER_OK) fail_msg("stage %u by %d", s, more);
            formats_buffer_free(&other);
        }
    formats_model_stages two = {2, {c.stages.end[2], c.size}}; /* several parts in a stage */
    formats_buffer other = formats_buffer_make(1 << 24);
    assert_int_equal(formats_model_pack(c.payload, &two, &other, NULL), TAPER_OK);
    assert_int_equal(load(other.data, other.size, 0, NULL), TAPER_OK);
    formats_buffer_free(&other);
    two.end[1] = two.end[0];
    assert_int_equal(formats_model_pack(c.payload, &two, &other, NULL), TAPER_ERR_ARG);
    formats_buffer_free(&other);
    free(c.payload);
}

/* --- decoding ---------------------------------------------------------------------------- */

/* Pictures, one of which needs more planes of the last units than the model has: their passes come
 * early in its group. */
static formats_buffer encode(taper_layout layout) {
    taper_image image[3] = {dct_picture(37, 21, 1, 1), picture_noise(16, 24, 1, 8, 4),
                            dct_picture(9, 30, 1, 3)};
    for (uint32_t i = 0; i < 16 * 24; i++)
        ((uint8_t *)image[1].pixels)[i] = (uint8_t)((i + i / 16) % 2 ? 255 : 0);
    taper_encode_options options = {.layout = layout, .group_images = 2};
    formats_buffer out = dct_encode(model, image, 3, &options, 0);
    for (int i = 0; i < 3; i++) formats_image_free(&image[i]);
    return out;
}

static void groups_are_equal(const codec_group *a, const codec_group *b) {
    assert_int_equal(a->pass, b->pass);
    assert_memory_equal(a->depth, b->depth, a->tables->units);
    for (uint32_t u = 0; u < a->tables->units; u++)
        for (uint32_t p = 0; p < a->n; p++)
            assert_int_equal(a->level[(size_t)u * a->stride + p],
                             b->level[(size_t)u * b->stride + p]);
}

/* Group g from a source, up to this number of the model's passes. */
static codec_group_reader *read_group(codec_group_readers *readers, const taper_model *m,
                                      const formats_front *front, uint32_t g,
                                      const formats_buffer *container) {
    formats_memory memory = {container->data, container->size};
    taper_source source = formats_memory_source(&memory);
    codec_group_reader *r;
    assert_int_equal(codec_group_readers_open(readers, m, front, g, &source, &r, NULL), TAPER_OK);
    return r;
}

/* The first stages give the levels of the whole model at the same pass. */
static void same_levels(const formats_buffer *container, uint32_t k) {
    formats_front front;
    taper_model *m = with_stages(k);
    assert_int_equal(formats_front_read(container->data, container->size, NULL, &front, NULL), 0);
    uint32_t least = UINT32_MAX;
    for (uint32_t g = 0; g < front.groups; g++) {
        uint32_t limit[FORMATS_MAX_RATE_CLASSES];
        codec_group_readers part = {0}, whole = {.pass_limit = limit};
        codec_group_reader *a = read_group(&part, m, &front, g, container);
        uint32_t known = codec_model_known_passes(m, a->strips.coder->group.tables);
        if (k < ALL_SETS) assert_true(a->strips.coder->group.pass == known && known > 0);
        least = known < least ? known : least;
        for (int i = 0; i < FORMATS_MAX_RATE_CLASSES; i++)
            limit[i] = codec_model_pass(a->strips.coder->group.tables, a->strips.coder->group.pass);
        codec_group_reader *b = read_group(&whole, model, &front, g, container);
        groups_are_equal(&a->strips.coder->group, &b->strips.coder->group);
        codec_group_readers_close(&part), codec_group_readers_close(&whole);
    }
    if (k < ALL_SETS) assert_true(least < info_of_model(m).passes_known); /* raised */
    formats_front_free(&front);
    taper_model_free(m);
}

/* Pushed in pieces, all at once, and from a source: the same picture, which is not complete. */
static void same_pictures(const formats_buffer *container, uint32_t k) {
    formats_buffer pulled = formats_buffer_make(1 << 24), pushed = formats_buffer_make(1 << 24);
    taper_completeness done[3], again[3];
    taper_decoder *decoder;
    taper_model *m = with_stages(k);
    assert_int_equal(dct_pull(container->data, container->size, m, &pulled, done), TAPER_OK);
    assert_int_equal(stream_decoder(&decoder, m, NULL, NULL), TAPER_OK);
    for (size_t at = 0; at < container->size; at += 97)
        assert_int_equal(taper_decoder_push(decoder, container->data + at,
                                            container->size - at < 97 ? container->size - at : 97,
                                            NULL),
                         TAPER_OK);
    assert_int_equal(dct_render_all(decoder, &pushed, again), TAPER_OK);
    assert_int_equal(pulled.size, pushed.size);
    assert_memory_equal(pulled.data, pushed.data, pulled.size);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(done[i].complete, k >= ALL_SETS);
        assert_int_equal(again[i].complete, k >= ALL_SETS);
        assert_true(done[i].passes <= info_of_model(m).passes_known);
        assert_int_equal(done[i].passes, again[i].passes);
    }
    close_decoder(decoder);
    taper_model_free(m);
    formats_buffer_free(&pulled), formats_buffer_free(&pushed);
}

static void first_stages_decode_their_passes(void **unused) {
    (void)unused;
    for (int layout = TAPER_LAYOUT_SET; layout <= TAPER_LAYOUT_GALLERY; layout++) {
        formats_buffer container = encode((taper_layout)layout);
        for (uint32_t k = 1; k <= STAGES; k++) {
            same_levels(&container, k);
            same_pictures(&container, k);
        }
        formats_buffer_free(&container);
    }
}

/* A chunk that fails its checksum, after the passes of the first stages or among them: what was
 * pushed before it is decoded again, to the same pixels as from a source. */
static void damage_is_undone(void **unused) {
    (void)unused;
    formats_buffer container = encode(TAPER_LAYOUT_SET);
    for (uint32_t k = 1; k < ALL_SETS; k++)
        for (size_t at = container.size / 2; at < container.size; at += container.size / 9) {
            formats_buffer pulled = formats_buffer_make(1 << 24),
                           pushed = formats_buffer_make(1 << 24);
            taper_decoder *decoder;
            taper_model *m = with_stages(k);
            container.data[at] ^= 4;
            (void)dct_pull(container.data, container.size, m, &pulled, NULL);
            assert_int_equal(stream_decoder(&decoder, m, NULL, NULL), TAPER_OK);
            for (size_t i = 0; i < container.size; i++) {
                (void)taper_decoder_push(decoder, container.data + i, 1, NULL);
                if (i + 40 > at && i < at + 40) (void)dct_render_all(decoder, &pushed, NULL);
            }
            formats_buffer_clear(&pushed);
            (void)dct_render_all(decoder, &pushed, NULL);
            assert_int_equal(pulled.size, pushed.size);
            assert_memory_equal(pulled.data, pushed.data, pulled.size);
            container.data[at] ^= 4;
            close_decoder(decoder);
            taper_model_free(m);
            formats_buffer_free(&pulled), formats_buffer_free(&pushed);
        }
    formats_buffer_free(&container);
}

/* What must not be done with some stages. */
static void other_uses_are_refused(void **unused) {
    (void)unused;
    for (uint32_t k = 1; k < STAGES; k++) {
        taper_model *m = with_stages(k);
        taper_encoder *encoder;
        taper_embedder *embedder;
        taper_error error = {0};
        formats_buffer out = formats_buffer_make(1 << 24);
        codec_weight_precision precision = {0.05, 8};
        taper_image image = dct_picture(8, 8, 1, 1);
        assert_int_equal(taper_encoder_new(&encoder, m, NULL, &error), TAPER_ERR_ARG);
        assert_non_null(strstr(error.text, "of its 6 stages"));
        assert_int_equal(taper_embedder_new(&embedder, m, 1, &error), TAPER_ERR_ARG);
        assert_int_equal(codec_model_write(m, &precision, &out, &error), TAPER_ERR_ARG);
        assert_int_equal(codec_model_round_weights(m, &precision, &error), TAPER_ERR_ARG);
        formats_image_free(&image);
        formats_buffer_free(&out);
        taper_model_free(m);
    }
}

/* All stages give the rows that writing has rounded; the first ones rows near these. */
static void rows_have_all_their_bits(void **unused) {
    (void)unused;
    taper_model *m, *back;
    formats_buffer other = formats_buffer_make(1 << 24);
    codec_weight_precision precision = {0.0005, 8};
    uint64_t state = 9;
    assert_int_equal(taper_model_load(&m, file.data, file.size, NULL, NULL), TAPER_OK);
    const size_t weights = (size_t)m->network.units * m->network.inputs;
    for (size_t i = 0; i < weights; i++)
        m->network.synthesis[i] += (float)(picture_random(&state) % 1000) * 1e-5f;
    assert_int_equal(codec_model_write(m, &precision, &other, NULL), TAPER_OK);
    assert_int_equal(taper_model_load(&back, other.data, other.size, NULL, NULL), TAPER_OK);
    assert_memory_equal(m->network.synthesis, back->network.synthesis, weights * sizeof(float));
    taper_model_free(back);
    size_t end = stage_end(0) + (size_t)formats_get_u64le(other.data + HEADER), same = 0;
    assert_int_equal(taper_model_load_stages(&back, other.data, end, NULL, NULL), TAPER_OK);
    for (uint32_t u = 0; u < 64; u++)
        for (uint32_t i = 0; i < 64 && !back->unit_is_missing[u]; i++) {
            float a = m->network.synthesis[u * 64 + i], b = back->network.synthesis[u * 64 + i];
            assert_true(fabsf(a - b) < 0.2f);
            same += a == b;
        }
    assert_true(same < 64); /* coarse */
    taper_model_free(m), taper_model_free(back);
    formats_buffer_free(&other);
}

/* Written again, the file has the same bytes. */
static void writing_is_stable(void **unused) {
    (void)unused;
    taper_model *m;
    formats_buffer again = formats_buffer_make(1 << 24);
    codec_weight_precision precision = {0.05, 8};
    assert_int_equal(taper_model_load(&m, file.data, file.size, NULL, NULL), TAPER_OK);
    assert_int_equal(codec_model_write(m, &precision, &again, NULL), TAPER_OK);
    assert_int_equal(again.size, file.size);
    assert_memory_equal(again.data, file.data, file.size);
    assert_true(m->info.stages == STAGES && m->info.passes_known == m->info.passes);
    taper_model_free(m);
    formats_buffer_free(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_divide_the_units),
        cmocka_unit_test(illegal_sets_are_refused),
        cmocka_unit_test(every_prefix_is_as_many_stages_as_it_holds),
        cmocka_unit_test(info_tells_what_is_known),
        cmocka_unit_test(damage_is_seen_in_its_stage),
        cmocka_unit_test(order_of_stages_counts),
        cmocka_unit_test(sizes_that_lie_are_refused),
        cmocka_unit_test(stages_end_with_parts),
        cmocka_unit_test(first_stages_decode_their_passes),
        cmocka_unit_test(damage_is_undone),
        cmocka_unit_test(other_uses_are_refused),
        cmocka_unit_test(rows_have_all_their_bits),
        cmocka_unit_test(writing_is_stable),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}
