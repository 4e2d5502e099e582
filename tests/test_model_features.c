/* test_model_features.c -- direct networks, activations, tied stacks, binary units in model files.
 * Round trips, and a refusal by name for every illegal field. */
#include "cmocka_all.h"
#include "infos.h"
#include "model_payload.h"
#include "tiny_binary_model.h"

enum { SEED = 91 };

static const tiny_shape plain_shape = {
    .window = {6, 5, 1}, .units = 20, .depth = 2, .hidden = CODEC_RELU, .density = 0.5f};

static formats_buffer write_model(taper_model *m) {
    codec_weight_precision precision = {0.25, 8};
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(codec_model_write(m, &precision, &out, NULL), TAPER_OK);
    return out;
}

static void assert_same_stack(const codec_stack *a, const codec_stack *b) {
    assert_int_equal(a->depth, b->depth);
    for (uint32_t l = 0; l < a->depth; l++) {
        const codec_layer *x = &a->layer[l], *y = &b->layer[l];
        assert_true(x->inputs == y->inputs && x->outputs == y->outputs);
        assert_memory_equal(x->weight, y->weight, (size_t)x->inputs * x->outputs * 4);
        assert_memory_equal(x->bias, y->bias, x->outputs * 4);
    }
}

/* And they are strictly lower triangular, and not empty. */
static void assert_same_triangles(const codec_network *a, const codec_network *b) {
    size_t units = a->units, bytes = units * units * sizeof(float);
    assert_memory_equal(a->feedback, b->feedback, bytes);
    assert_memory_equal(a->mixing, b->mixing, bytes);
    for (size_t r = 0; r < units; r++)
        for (size_t c = r; c < units; c++)
            assert_true(a->feedback[r * units + c] == 0 && a->mixing[r * units + c] == 0);
    for (size_t r = 1; r < units; r++) /* 8 bits of a row's largest are left */
        assert_true(a->feedback[r * units] != 0 || a->mixing[r * units] != 0);
}

static void models_round_trip(void **unused) {
    (void)unused;
    for (int i = 0; i < 54; i++) {
        tiny_shape s = plain_shape;
        s.depth = 1 + (uint32_t)i % 3;
        s.hidden = (codec_activation)(i / 3 % 3);
        s.real = i / 9 % 2, s.tied = i / 18 % 2;
        if (i >= 36) s.tied = s.real, s.real = 0, s.feedback = 1;
        s.units = s.real ? 20 : 70; /* more bits than pixels */
        taper_model *m = tiny_binary_unwritten(s, SEED), *back;
        if (s.feedback) m->network.feedback[0] = m->network.mixing[7] = NAN; /* not stored */
        formats_buffer file = write_model(m);
        assert_int_equal(file.data[8], FORMATS_MODEL_VERSION);
        assert_int_equal(taper_model_load(&back, file.data, file.size, NULL, NULL), TAPER_OK);
        taper_model_info info = info_of_model(back);
        assert_true(info.family == TAPER_FAMILY_DENSE && info.units == s.units);
        assert_true(info.binary == !s.real && m->info.binary == info.binary);
        assert_int_equal(info.passes, m->tables.n_passes);
        uint64_t weights = 30;
        for (uint32_t l = 0; l < s.depth; l++)
            weights += (1 + m->network.encoder.layer[l].inputs) *
                           (uint64_t)m->network.encoder.layer[l].outputs +
                       (1 + m->network.decoder.layer[l].inputs) *
                           (uint64_t)m->network.decoder.layer[l].outputs;
        if (s.feedback) weights += 2 * 70 * 70;
        assert_int_equal(info.weights, weights);
        assert_true(info.feedback == (uint32_t)s.feedback && m->info.feedback == info.feedback);
        assert_int_equal(codec_network_has_feedback(&back->network), s.feedback);
        if (s.feedback) assert_same_triangles(&back->network, &m->network);
        assert_true(codec_network_is_direct(&back->network) && !back->network.analysis);
        assert_true(back->network.hidden == s.hidden && back->network.code == m->network.code);
        assert_true(back->network.tied_gain == m->network.tied_gain);
        assert_memory_equal(back->network.mean, m->network.mean, 30 * 4);
        assert_same_stack(&back->network.encoder, &m->network.encoder);
        assert_same_stack(&back->network.decoder, &m->network.decoder);
        assert_true((back->tables.density != NULL) == !s.real);
        formats_buffer again = write_model(m); /* what is rounded stays as it is */
        assert_int_equal(again.size, file.size);
        assert_memory_equal(again.data, file.data, file.size);
        formats_buffer_free(&again), formats_buffer_free(&file);
        taper_model_free(back), taper_model_free(m);
    }
}

/* A linear path may have binary units, and hidden layers other than ReLU. */
static void linear_paths_take_binary_units(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        taper_model *m = tiny_binary_unwritten(plain_shape, SEED), *back;
        codec_network_free(&m->network);
        const uint32_t hidden[] = {9};
        assert_int_equal(
            codec_network_alloc(&m->network, 30, 20, CODEC_UNTIED, hidden, 1, hidden, 1), 0);
        for (int u = 0; u < 20; u++) m->network.synthesis[31 * u] = 1, m->network.analysis[u] = 2;
        if (kind & 1) m->network.hidden = CODEC_LOGISTIC;
        if (kind & 2) {
            codec_code_tables_free(&m->tables);
            assert_int_equal(codec_code_tables_alloc(&m->tables, 20), TAPER_OK);
            dct_fill_tables(&m->tables, 30, 2, 1);
        }
        formats_buffer file = write_model(m);
        assert_int_equal(file.data[8], FORMATS_MODEL_VERSION);
        assert_int_equal(taper_model_load(&back, file.data, file.size, NULL, NULL), TAPER_OK);
        assert_int_equal(back->network.hidden, kind & 1 ? CODEC_LOGISTIC : CODEC_RELU);
        assert_int_equal(back->info.binary, !(kind & 2));
        assert_memory_equal(back->network.analysis, m->network.analysis, 600 * 4);
        assert_memory_equal(back->network.synthesis, m->network.synthesis, 600 * 4);
        formats_buffer_free(&file);
        taper_model_free(back), taper_model_free(m);
    }
}

/* Tied stacks are stored once. */
static void tied_stacks_halve_the_file(void **unused) {
    (void)unused;
    tiny_shape s = plain_shape;
    s.window = (codec_window){20, 20, 1, NULL}, s.units = 200;
    taper_model *m = tiny_binary_unwritten(s, SEED);
    formats_buffer loose = write_model(m);
    assert_int_equal(codec_network_tie(&m->network, 400), TAPER_OK);
    formats_buffer tied = write_model(m);
    assert_true(tied.size < loose.size * 0.6);
    formats_buffer_free(&loose), formats_buffer_free(&tied);
    taper_model_free(m);
}

/* --- illegal fields ------------------------------------------------------------------------ */

/* at 8: flags, hidden, code, [4 bytes of gain], depth, widths ... */
enum { FLAGS_AT = 8, HIDDEN_AT = 9, CODE_AT = 10, GAIN_AT = 11, DEPTH_AT = 11, TIED_DEPTH_AT = 15 };

static void illegal_fields_are_refused_by_name(void **unused) {
    (void)unused;
    static const struct {
        int tied, at, value;
        const char *word;
    } cases[] = {{0, FLAGS_AT, 6 + 128, NULL}, /* without the triangles */
                 {0, FLAGS_AT, 2 + 128, "units with feedback"},
                 {0, FLAGS_AT, 4 + 128, "units with feedback"},
                 {0, FLAGS_AT, 6 + 32, "units of one bit"},
                 {0, FLAGS_AT, 6 + 16, "units of one bit"},
                 {0, FLAGS_AT, 128, "units with feedback"},
                 {0, FLAGS_AT, 6 + 1, "no linear path"},
                 {0, 0, 0, "pca"},
                 {0, HIDDEN_AT, 3, "activations"},
                 {0, HIDDEN_AT, 255, "activations"},
                 {0, CODE_AT, 3, "activations"},
                 {0, CODE_AT, 1, "activation of the code"},
                 {0, CODE_AT, 2, "activation of the code"},
                 {0, DEPTH_AT, 0, "stack of"},
                 {0, DEPTH_AT, 9, "stack of 9"},
                 {0, 6, 0, "0 units"},
                 {1, TIED_DEPTH_AT, 1, NULL},
                 {1, TIED_DEPTH_AT + 1, 23, "mirror"},
                 {1, FLAGS_AT, 4 + 8, NULL},
                 {1, GAIN_AT + 3, 0xFF, "gain"},
                 {1, GAIN_AT + 3, 0x7F, "gain"},
                 {1, GAIN_AT + 3, 0, "gain"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tiny_shape s = plain_shape;
        s.tied = cases[i].tied;
        taper_model *m = tiny_binary_unwritten(s, SEED);
        formats_buffer file = write_model(m), payload = payload_of(&file);
        taper_error error;
        assert_int_equal(load_payload(&payload, &error), TAPER_OK);
        payload.data[cases[i].at] = (uint8_t)cases[i].value;
        if (load_payload(&payload, &error) != TAPER_ERR_CORRUPT ||
            (cases[i].word && !strstr(error.text, cases[i].word)))
            fail_msg("case %zu: %s", i, error.text);
        formats_buffer_free(&file), formats_buffer_free(&payload);
        taper_model_free(m);
    }
}

static void short_payloads_are_not_packed(void **unused) {
    (void)unused;
    static const uint8_t zeros[FORMATS_MODEL_LEAST];
    formats_buffer out = formats_buffer_make(1 << 10);
    assert_int_equal(pack_payload(zeros, FORMATS_MODEL_LEAST - 1, &out), TAPER_ERR_ARG);
    assert_int_equal(pack_payload(zeros, FORMATS_MODEL_LEAST, &out), TAPER_OK);
    formats_buffer_free(&out);
}

/* What triangles take is seen before memory is taken. */
static void triangles_count(void **unused) {
    (void)unused;
    tiny_shape s = plain_shape;
    s.feedback = 1, s.units = 70;
    taper_model *m = tiny_binary_unwritten(s, SEED), *back;
    formats_buffer file = write_model(m);
    uint64_t with = m->info.work;
    taper_error error;
    assert_int_equal(taper_model_load(&back, file.data, file.size, NULL, NULL), TAPER_OK);
    taper_limits limits = {.size = sizeof(taper_limits), .max_model_bytes = 4 * back->info.weights};
    taper_model_free(back);
    assert_int_equal(taper_model_load(&back, file.data, file.size, &limits, NULL), TAPER_OK);
    taper_model_free(back);
    limits.max_model_bytes -= 4;
    assert_int_equal(taper_model_load(&back, file.data, file.size, &limits, &error),
                     TAPER_ERR_LIMIT);
    assert_non_null(strstr(error.text, "weights"));
    taper_model_free(m);
    formats_buffer_free(&file);
    s.feedback = 0;
    m = tiny_binary_unwritten(s, SEED);
    file = write_model(m);
    assert_in_range(with - m->info.work, 70 * 69 / 2 / 30, 70 * 69 / 2 / 30 + 1);
    taper_model_free(m);
    formats_buffer_free(&file);
}

/* A file cut anywhere is refused; any byte changed: refused, or a model that can be used. */
static void any_payload_loads_or_is_refused(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    for (int kind = 0; kind < 3; kind++) {
        tiny_shape s = plain_shape;
        s.tied = kind == 1, s.feedback = kind == 2, s.hidden = CODEC_LOGISTIC;
        taper_model *m = tiny_binary_unwritten(s, SEED);
        formats_buffer file = write_model(m), payload = payload_of(&file);
        taper_error error;
        size_t size = payload.size;
        for (payload.size = FORMATS_MODEL_LEAST; payload.size < size; payload.size += 7)
            assert_int_not_equal(load_payload(&payload, &error), TAPER_OK);
        payload.size = size;
        for (size_t at = 0; at < payload.size; at += at < 40 ? 1 : 3)
            for (int round = 0; round < (at < 40 ? 6 : 1); round++) {
                uint8_t was = payload.data[at];
                payload.data[at] = (uint8_t)picture_random(&state);
                load_payload(&payload, &error);
                payload.data[at] = was;
            }
        formats_buffer_free(&file), formats_buffer_free(&payload);
        taper_model_free(m);
    }
}

int main(void) {
    printf("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_round_trip),
        cmocka_unit_test(linear_paths_take_binary_units),
        cmocka_unit_test(tied_stacks_halve_the_file),
        cmocka_unit_test(illegal_fields_are_refused_by_name),
        cmocka_unit_test(short_payloads_are_not_packed),
        cmocka_unit_test(triangles_count),
        cmocka_unit_test(any_payload_loads_or_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
