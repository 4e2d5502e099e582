/* test_model.c -- .tpm files: there and back, every field's range, every truncation and bit flip.
 */
#include "cmocka_all.h"
#include "codec/entropy/weights_coder.h"
#include "codec/model/model.h"
#include "codec/transform/pseudo_inverse.h"
#include "dct_model.h"
#include "infos.h"
#include "model_payload.h"
#include <zstd.h>

enum { SEED = 81, ENVELOPE = FORMATS_MODEL_HEADER + FORMATS_MODEL_ENTRY /* of one stage */ };

/* A dense model, tied or not, with stacks on both sides; weights drawn from the seed. */
static taper_model *dense_model(int tied, int deep, uint64_t seed) {
    static const uint32_t encoder[] = {9, 6}, decoder[] = {5};
    taper_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->window = (codec_window){4, 3, 1, NULL};
    m->tied = tied;
    m->info.family = TAPER_FAMILY_DENSE;
    assert_int_equal(
        codec_network_alloc(&m->network, 12, 8, tied, encoder, deep ? 2 : 0, decoder, deep ? 1 : 0),
        0);
    assert_int_equal(codec_code_tables_alloc(&m->tables, 8), TAPER_OK);
    dct_fill_network(m);
    dct_fill_tables(&m->tables, 12, 2, 1);
    codec_stack *stack[] = {&m->network.encoder, &m->network.decoder};
    for (int s = 0; s < 2; s++)
        for (uint32_t l = 0; l < stack[s]->depth; l++) {
            codec_layer *layer = &stack[s]->layer[l];
            for (uint32_t i = 0; i < layer->inputs * layer->outputs; i++)
                layer->weight[i] = (float)((int)(picture_random(&seed) >> 56) - 128) / 300.0f;
            for (uint32_t i = 0; i < layer->outputs; i++) layer->bias[i] = (float)i - 2.5f;
        }
    if (!tied)
        for (uint32_t i = 0; i < 12 * 8; i++)
            m->network.analysis[i] = m->network.synthesis[i] * 0.9f;
    return m;
}

static formats_buffer write_model(taper_model *m) {
    codec_weight_precision precision = {0.25, 8};
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(codec_model_write(m, &precision, &out, NULL), TAPER_OK);
    assert_int_equal(m->info.file_bytes, out.size);
    return out;
}

static void assert_same_stack(const codec_stack *a, const codec_stack *b) {
    assert_int_equal(a->depth, b->depth);
    for (uint32_t l = 0; l < a->depth; l++) {
        assert_int_equal(a->layer[l].inputs, b->layer[l].inputs);
        assert_int_equal(a->layer[l].outputs, b->layer[l].outputs);
        assert_memory_equal(a->layer[l].weight, b->layer[l].weight,
                            a->layer[l].inputs * a->layer[l].outputs * 4);
        assert_memory_equal(a->layer[l].bias, b->layer[l].bias, a->layer[l].outputs * 4);
    }
}

static void models_round_trip(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        taper_model *m = dense_model(kind & 1, kind >> 1, SEED), *back;
        formats_buffer file = write_model(m);
        assert_int_equal(taper_model_load(&back, file.data, file.size, NULL, NULL), TAPER_OK);
        taper_model_info info = info_of_model(back);
        assert_int_equal(info.family, TAPER_FAMILY_DENSE);
        assert_true(info.channels == 1 && info.window_width == 4 && info.window_height == 3 &&
                    info.units == 8);
        assert_int_equal(info.passes, m->tables.n_passes);
        assert_int_equal(info.id, m->info.id);
        assert_int_equal(info.file_bytes, file.size);
        uint64_t weights = 12 + 12 * 8 * (kind & 1 ? 1 : 2),
                 layers = 12 * 9 + 9 + 9 * 6 + 6 + 6 * 8 + 8 + 8 * 5 + 5 + 5 * 12 + 12;
        assert_int_equal(info.weights, weights + (kind >> 1 ? layers : 0));
        assert_memory_equal(back->network.mean, m->network.mean, 12 * 4);
        assert_memory_equal(back->network.synthesis, m->network.synthesis, 12 * 8 * 4);
        if (!(kind & 1))
            assert_memory_equal(back->network.analysis, m->network.analysis, 12 * 8 * 4);
        assert_same_stack(&back->network.encoder, &m->network.encoder);
        assert_same_stack(&back->network.decoder, &m->network.decoder);
        assert_memory_equal(back->tables.planes, m->tables.planes, 8);
        taper_model_free(back);
        formats_buffer again = write_model(m); /* what is rounded stays as it is */
        assert_int_equal(again.size, file.size);
        assert_memory_equal(again.data, file.data, file.size);
        formats_buffer_free(&again);
        formats_buffer_free(&file);
        taper_model_free(m);
    }
    taper_model_free(NULL);
}

/* Rounding adds no more error to a pixel than was asked for. */
static void precision_is_kept(void **unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        double allowed = 0.01 * pow(5, i), error = 0;
        taper_model *m = dense_model(1, 0, SEED);
        float exact[8 * 12];
        memcpy(exact, m->network.synthesis, sizeof exact);
        codec_weight_precision precision = {allowed, 8};
        assert_int_equal(codec_model_round_weights(m, &precision, NULL), TAPER_OK);
        for (uint32_t u = 0; u < 8; u++) {
            double scale = m->tables.step[u] * exp2(m->tables.log_scale[u] / 16.0);
            for (uint32_t k = 0; k < 12; k++) {
                double d = scale * (m->network.synthesis[u * 12 + k] - exact[u * 12 + k]);
                error += d * d / 12;
            }
        }
        assert_true(error <= allowed * 2);
        taper_model_free(m);
    }
}

/* --- the envelope ------------------------------------------------------------------------ */

static taper_status load_bytes(const void *bytes, size_t size, const taper_limits *limits) {
    uint8_t *exact = malloc(size + 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    taper_model *m = (taper_model *)exact;
    taper_error error = {0};
    taper_status status = taper_model_load(&m, exact, size, limits, &error);
    assert_int_equal(error.status, status);
    assert_true(status == TAPER_OK ? m != NULL : m == NULL);
    taper_model_free(m);
    free(exact);
    return status;
}

static void cut_and_damaged_files_are_refused(void **unused) {
    (void)unused;
    taper_model *m = dense_model(1, 1, SEED);
    formats_buffer file = write_model(m);
    for (size_t size = 0; size < file.size; size++) {
        taper_status status = load_bytes(file.data, size, NULL);
        assert_int_equal(status, size < 8 ? TAPER_ERR_CORRUPT : TAPER_ERR_TRUNCATED);
    }
    for (size_t bit = 0; bit < file.size * 8; bit += bit < 1000 ? 1 : 3) {
        file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        taper_status status = load_bytes(file.data, file.size, NULL);
        /* zstd's frame has bits that nobody reads: with one of those, the payload is still the true
         * one */
        int unread = status == TAPER_OK && bit / 8 >= ENVELOPE;
        assert_true(unread || status == TAPER_ERR_CORRUPT || status == TAPER_ERR_TRUNCATED ||
                    status == TAPER_ERR_VERSION);
        file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    formats_write_u8(&file, 0);
    assert_int_equal(load_bytes(file.data, file.size, NULL), TAPER_ERR_CORRUPT);
    file.size--;
    taper_limits limits = {.size = sizeof(taper_limits), .max_model_bytes = 100};
    assert_int_equal(load_bytes(file.data, file.size, &limits), TAPER_ERR_LIMIT);
    formats_buffer_free(&file);
    taper_model_free(m);
}

static void reseal(uint8_t *h) {
    memset(h + 12, 0, 4);
    formats_set_u32le(h + 12, formats_crc32c(0, h, ENVELOPE));
}

/* Every version but this one is refused by its number, and with what to do, whatever the checksum
 * says: another version may have another. */
static void other_versions_are_refused_by_name(void **unused) {
    (void)unused;
    static const char *const words[][2] = {{NULL, "damaged"},
                                           {"version 1 is older", "train the model again"},
                                           {"version 2 is older", "train the model again"},
                                           {"version 3 is older", "train the model again"},
                                           {NULL, NULL},
                                           {"version 5 is newer", "update taper"}};
    taper_model *m = dense_model(1, 0, SEED), *back;
    formats_buffer file = write_model(m);
    assert_int_equal(file.data[8], FORMATS_MODEL_VERSION);
    for (uint8_t version = 0; version < 6; version++)
        for (int sealed = 0; sealed < 2; sealed++) {
            taper_error error = {0};
            file.data[8] = version;
            if (sealed) reseal(file.data);
            taper_status want = version == 0   ? TAPER_ERR_CORRUPT
                                : version != 4 ? TAPER_ERR_VERSION
                                : sealed       ? TAPER_OK
                                               : TAPER_ERR_CORRUPT;
            assert_int_equal(taper_model_load(&back, file.data, file.size, NULL, &error), want);
            for (int i = 0; i < 2; i++)
                if (words[version][i]) assert_non_null(strstr(error.text, words[version][i]));
            taper_model_free(back);
        }
    formats_buffer_free(&file);
    taper_model_free(m);
}

static void envelope_fields_have_their_ranges(void **unused) {
    (void)unused;
    taper_model *m = dense_model(1, 0, SEED);
    formats_buffer file = write_model(m);
    const struct {
        size_t at;
        uint64_t value;
        taper_status want;
    } cases[] = {{10, 0, TAPER_ERR_CORRUPT},
                 {10, 17, TAPER_ERR_CORRUPT},
                 {24, file.size - ENVELOPE + 1, TAPER_ERR_TRUNCATED},
                 {24, file.size - ENVELOPE - 1, TAPER_ERR_CORRUPT},
                 {24, 0, TAPER_ERR_CORRUPT},
                 {24, UINT64_MAX, TAPER_ERR_CORRUPT},
                 {32, 0, TAPER_ERR_CORRUPT},
                 {32, FORMATS_MODEL_LEAST - 1, TAPER_ERR_CORRUPT},
                 {32, (uint64_t)1 << 40, TAPER_ERR_LIMIT},
                 {32, UINT64_MAX, TAPER_ERR_CORRUPT},
                 {32, 10000000, TAPER_ERR_CORRUPT},
                 {16, 77, TAPER_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t was[8];
        memcpy(was, file.data + cases[i].at, 8);
        if (cases[i].at < 16)
            formats_set_u16le(file.data + cases[i].at, (uint16_t)cases[i].value);
        else
            formats_set_u64le(file.data + cases[i].at, cases[i].value);
        reseal(file.data);
        if (load_bytes(file.data, file.size, NULL) != cases[i].want) fail_msg("case %zu", i);
        memcpy(file.data + cases[i].at, was, 8);
        reseal(file.data);
    }
    assert_int_equal(load_bytes(file.data, file.size, NULL), TAPER_OK);
    formats_buffer_free(&file);
    taper_model_free(m);
}

/* --- the payload ------------------------------------------------------------------------- */

/* formats_model_pack's envelope, packed in a hurry. */
static taper_status load_packed(const void *payload, size_t size) {
    size_t bound = ZSTD_compressBound(size);
    uint8_t *file = calloc(1, ENVELOPE + bound);
    assert_non_null(file);
    size_t packed = ZSTD_compress(file + ENVELOPE, bound, payload, size, 1);
    assert_false(ZSTD_isError(packed));
    memcpy(file, "\x89TPM\r\n\x1a\n", 8);
    formats_set_u16le(file + 8, FORMATS_MODEL_VERSION);
    formats_set_u16le(file + 10, 1);
    formats_set_u64le(file + 16, formats_model_id(payload, size));
    formats_set_u64le(file + 24, packed);
    formats_set_u64le(file + 32, size);
    formats_set_u32le(file + 40, formats_crc32c(0, file + ENVELOPE, packed));
    reseal(file);
    taper_status status = load_bytes(file, ENVELOPE + packed, NULL);
    free(file);
    return status;
}

/* The same for a beginning, followed by zeros up to a legal length. */
static taper_status load_beginning(const void *payload, size_t size) {
    uint8_t padded[FORMATS_MODEL_LEAST] = {0};
    memcpy(padded, payload, size);
    return load_packed(padded, sizeof padded);
}

/* The architecture is a closed list: family, channels, width, height, units, flags, activations of
 * hidden layers and of the code, stacks. */
static void architecture_is_checked(void **unused) {
    (void)unused;
    taper_model *m = dense_model(1, 0, SEED);
    formats_buffer file = write_model(m), payload = payload_of(&file);
    const struct {
        size_t at;
        int bytes;
        uint32_t value;
        taper_status want;
    } cases[] = {{0, 1, 0, TAPER_OK},
                 {0, 1, 2, TAPER_ERR_CORRUPT}, /* family conv with parts of a dense model */
                 {0, 1, 3, TAPER_ERR_CORRUPT}, /* family gradients with a decoder */
                 {0, 1, 5, TAPER_ERR_UNSUPPORTED},
                 {1, 1, 0, TAPER_ERR_CORRUPT},
                 {1, 1, 2, TAPER_ERR_CORRUPT},
                 {1, 1, 4, TAPER_ERR_CORRUPT},
                 {2, 2, 0, TAPER_ERR_CORRUPT},
                 {2, 2, 257, TAPER_ERR_CORRUPT},
                 {4, 2, 0, TAPER_ERR_CORRUPT},
                 {4, 2, 257, TAPER_ERR_CORRUPT},
                 {4, 2, 65535, TAPER_ERR_CORRUPT},
                 {6, 2, 0, TAPER_ERR_CORRUPT},
                 {6, 2, 13, TAPER_ERR_CORRUPT},
                 {8, 1, 2, TAPER_ERR_CORRUPT},
                 {9, 1, 3, TAPER_ERR_CORRUPT},
                 {10, 1, 1, TAPER_ERR_CORRUPT},
                 {11, 1, 1, TAPER_ERR_CORRUPT},
                 {11, 1, 9, TAPER_ERR_CORRUPT},
                 {12, 1, 1, TAPER_ERR_CORRUPT},
                 {12, 1, 9, TAPER_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t was[2];
        memcpy(was, payload.data + cases[i].at, 2);
        if (cases[i].bytes == 1)
            payload.data[cases[i].at] = (uint8_t)cases[i].value;
        else
            formats_set_u16le(payload.data + cases[i].at, (uint16_t)cases[i].value);
        if (load_packed(payload.data, payload.size) != cases[i].want) fail_msg("case %zu", i);
        memcpy(payload.data + cases[i].at, was, 2);
    }
    for (size_t size = 0; size < payload.size; size += size < 150 ? 1 : 17)
        assert_int_not_equal(load_packed(payload.data, size), TAPER_OK);
    formats_write_u8(&payload, 0);
    assert_int_equal(load_packed(payload.data, payload.size), TAPER_ERR_CORRUPT);
    formats_buffer_free(&file), formats_buffer_free(&payload);
    taper_model_free(m);
}

/* Architectures that would take much memory, and layers that are no layers, in a few bytes. */
static void hostile_architectures_are_refused_early(void **unused) {
    (void)unused;
    static const uint8_t wide[] = {1, 1, 4, 0, 3, 0, 8, 0, 1,
                                   1, 0, 2, 0, 0, 0, 0, 0}; /* a layer of 0 */
    static const uint8_t wider[] = {1, 1, 4, 0, 3, 0, 8, 0, 1,
                                    1, 0, 2, 1, 0, 1, 0, 0}; /* of 65,537 */
    static const uint8_t huge[] = {1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0,
                                   3, 0, 0, 1, 0, 0, 0, 1, 0, 0}; /* 2^32 weights */
    static const uint8_t pca_untied[] = {0, 1, 4, 0, 3, 0, 8, 0, 0, 1, 0, 0, 0};
    static const uint8_t pca_deep[] = {0, 1, 4, 0, 3, 0, 8, 0, 1, 1, 0, 2, 5, 0, 0, 0, 0};
    static const uint8_t inputs[] = {1, 3, 0, 1, 0, 1, 1,
                                     0, 1, 1, 0, 0, 0}; /* 256 x 256 x 3 values */
    assert_int_equal(load_beginning(wide, sizeof wide), TAPER_ERR_CORRUPT);
    assert_int_equal(load_beginning(wider, sizeof wider), TAPER_ERR_CORRUPT);
    assert_int_equal(load_beginning(huge, sizeof huge), TAPER_ERR_LIMIT);
    assert_int_equal(load_beginning(pca_untied, sizeof pca_untied), TAPER_ERR_CORRUPT);
    assert_int_equal(load_beginning(pca_deep, sizeof pca_deep), TAPER_ERR_CORRUPT);
    assert_int_equal(load_beginning(inputs, sizeof inputs), TAPER_ERR_CORRUPT);
    static const uint8_t zeros[FORMATS_MODEL_LEAST - 1];
    assert_int_equal(load_packed(zeros, sizeof zeros), TAPER_ERR_CORRUPT); /* too short */
    assert_int_equal(load_packed("", 0), TAPER_ERR_CORRUPT);
}

/* A bias that is no number. */
static void biases_are_checked(void **unused) {
    (void)unused;
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e9f, -2e9f};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        taper_model *m = dense_model(1, 1, SEED);
        m->network.decoder.layer[0].bias[3] = bad[i];
        formats_buffer file = write_model(m);
        assert_int_equal(load_bytes(file.data, file.size, NULL), TAPER_ERR_CORRUPT);
        formats_buffer_free(&file);
        taper_model_free(m);
    }
}

/* Any single byte of the payload changed: refused, or a model that can be used. */
static void any_payload_loads_or_is_refused(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    printf("seed %d\n", SEED);
    taper_model *m = dense_model(0, 1, SEED);
    formats_buffer file = write_model(m), payload = payload_of(&file);
    for (int round = 0; round < 1500; round++) {
        size_t at =
            round < 600 ? (size_t)round % payload.size : picture_random(&state) % payload.size;
        uint8_t was = payload.data[at];
        payload.data[at] = (uint8_t)picture_random(&state);
        load_packed(payload.data, payload.size);
        payload.data[at] = was;
    }
    formats_buffer_free(&file), formats_buffer_free(&payload);
    taper_model_free(m);
}

/* --- the analysis that belongs to a synthesis -------------------------------------------- */

static void pseudo_inverse_inverts(void **unused) {
    (void)unused;
    enum { UNITS = 20, INPUTS = 48 };
    formats_buffer file = formats_buffer_make(1 << 24);
    taper_model *m = dct_model_make((codec_window){4, 4, 3, NULL}, UNITS, 2, &file);
    float *g = m->network.synthesis, a[UNITS * INPUTS];
    uint64_t state = SEED;
    codec_backend backend;
    codec_backend_cpu(&backend);
    for (int noise = 0; noise < 3; noise++) {
        for (int i = 0; i < UNITS * INPUTS && noise; i++)
            g[i] += (float)((double)(picture_random(&state) >> 11) * exp2(-53) - 0.5) * 0.03f;
        assert_int_equal(codec_pseudo_inverse(&backend, g, UNITS, INPUTS, a), TAPER_OK);
        for (int r = 0; r < UNITS; r++)
            for (int c = 0; c < UNITS; c++) {
                double sum = 0;
                for (int i = 0; i < INPUTS; i++)
                    sum += (double)a[r * INPUTS + i] * g[c * INPUTS + i];
                assert_true(fabs(sum - (r == c)) <= 1e-4);
            }
    }
    static const float wrong[] = {0, 3, NAN, 1e30f};
    for (int i = 0; i < 4; i++) { /* rows that cannot be inverted so */
        for (int k = 0; k < UNITS * INPUTS; k++) g[k] = wrong[i];
        assert_int_equal(codec_pseudo_inverse(&backend, g, UNITS, INPUTS, a), TAPER_ERR_CORRUPT);
    }
    codec_backend_close(&backend);
    taper_model_free(m);
    formats_buffer_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_round_trip),
        cmocka_unit_test(precision_is_kept),
        cmocka_unit_test(cut_and_damaged_files_are_refused),
        cmocka_unit_test(other_versions_are_refused_by_name),
        cmocka_unit_test(envelope_fields_have_their_ranges),
        cmocka_unit_test(architecture_is_checked),
        cmocka_unit_test(hostile_architectures_are_refused_early),
        cmocka_unit_test(biases_are_checked),
        cmocka_unit_test(any_payload_loads_or_is_refused),
        cmocka_unit_test(pseudo_inverse_inverts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
