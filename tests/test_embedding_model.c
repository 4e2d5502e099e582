/* test_embedding_model.c -- models without a decoder: in files, with every illegal field, and
 * wherever a decoder is wanted. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "infos.h"
#include "model_payload.h"
#include "tiny_embedding_model.h"

enum { SEED = 61 };

static const tiny_shape plain_shape = {
    .window = {6, 5, 1}, .units = 20, .depth = 2, .hidden = CODEC_LOGISTIC, .density = 0.5f};

static formats_buffer write_model(taper_model *m, int bits) {
    codec_weight_precision precision = {.layer_bits = bits};
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(codec_model_write(m, &precision, &out, NULL), TAPER_OK);
    return out;
}

static void assert_same_encoder(const codec_network *a, const codec_network *b) {
    assert_true(a->hidden == b->hidden && a->code == b->code);
    assert_true(!b->decoder.depth && !b->synthesis && !b->analysis && b->tied_gain == 0);
    assert_int_equal(a->encoder.depth, b->encoder.depth);
    assert_memory_equal(a->mean, b->mean, a->inputs * sizeof *a->mean);
    for (uint32_t l = 0; l < a->encoder.depth; l++) {
        const codec_layer *x = &a->encoder.layer[l], *y = &b->encoder.layer[l];
        assert_true(x->inputs == y->inputs && x->outputs == y->outputs);
        assert_true(codec_layer_rows(x) == codec_layer_rows(y) && x->map.width == y->map.width);
        assert_memory_equal(x->weight, y->weight, codec_layer_weights(x) * 4);
        assert_memory_equal(x->bias, y->bias, codec_layer_rows(x) * 4);
    }
}

/* Any depth and activation, more units than pixels, down to one weight. */
static void models_round_trip(void **unused) {
    (void)unused;
    for (int i = 0; i < 36; i++) {
        tiny_shape s = plain_shape;
        s.depth = 1 + (uint32_t)i % 3, s.hidden = (codec_activation)(i / 3 % 3);
        s.units = i / 9 % 2 ? 70 : 3;
        if (i >= 18) s.window = (codec_window){1 + (uint32_t)i % 2, 1, 1, NULL}, s.units = 1;
        taper_model *m = tiny_embedding_unwritten(s, SEED), *back;
        m->network.code = (codec_activation)(i % 3);
        m->info.binary = !m->network.code && i % 2;
        formats_buffer file = write_model(m, 0);
        assert_int_equal(taper_model_load(&back, file.data, file.size, NULL, NULL), TAPER_OK);
        taper_model_info info = info_of_model(back);
        assert_true(info.family == TAPER_FAMILY_DENSE && info.units == s.units);
        assert_true(info.embedding && m->info.embedding && !info.passes);
        assert_int_equal(info.binary, m->network.code == CODEC_LINEAR && i % 2);
        assert_true(info.alpha == 29 && info.classes == 10 && info.id == m->info.id);
        assert_string_equal(info.objective, "dt-nca");
        uint64_t weights = m->network.inputs, products = 0,
                 pixels = s.window.width * s.window.height;
        for (uint32_t l = 0; l < s.depth; l++) {
            uint64_t in = m->network.encoder.layer[l].inputs;
            uint64_t out = m->network.encoder.layer[l].outputs;
            weights += (1 + in) * out, products += in * out;
        }
        assert_int_equal(info.weights, weights);
        assert_int_equal(info.work, (products + pixels - 1) / pixels);
        assert_int_equal(info.most_work, info.work);
        assert_same_encoder(&m->network, &back->network);
        formats_buffer again = write_model(back, 0); /* what is rounded stays as it is */
        assert_int_equal(again.size, file.size);
        assert_memory_equal(again.data, file.data, file.size);
        formats_buffer_free(&again), formats_buffer_free(&file);
        taper_model_free(back), taper_model_free(m);
    }
}

/* 12 bits for the largest weight of a row, or as many as are asked for. */
static void models_of_gradients_round_trip(void **unused) {
    (void)unused;
    static const codec_cells cells[] = {{1, 1}, {3, 2}, {2, 1}};
    for (int i = 0; i < 6; i++) {
        tiny_shape s = plain_shape;
        s.window.channels = i % 2 ? 3 : 1;
        taper_model *m = tiny_gradients_unwritten(s, cells[i / 2], SEED), *back;
        formats_buffer file = write_model(m, 0);
        assert_int_equal(taper_model_load(&back, file.data, file.size, NULL, NULL), TAPER_OK);
        const taper_model_info info = info_of_model(back);
        assert_int_equal(info.family, TAPER_FAMILY_GRADIENTS);
        assert_string_equal(taper_family_name(info.family), "gradients");
        assert_true(info.cells_across == cells[i / 2].across &&
                    info.cells_down == cells[i / 2].down);
        assert_true(info.embedding && info.window_width == 6 && info.work > 40);
        assert_int_equal(taper_model_layer_width(back, 0),
                         info.cells_across * info.cells_down * (31 + s.window.channels));
        assert_same_encoder(&m->network, &back->network);
        taper_model_free(m), taper_model_free(back);
        formats_buffer_free(&file);
    }
}

/* A byte of the payload that another part of it does not allow. */
typedef struct illegal_byte {
    int at, value;
    const char *word; /* of the message; NULL: any */
} illegal_byte;

/* The payload of this model is legal, and with any one of these bytes it is not. */
static void refuse_each(taper_model *m, const illegal_byte *cases, size_t n) {
    formats_buffer file = write_model(m, 0), payload = payload_of(&file);
    taper_error error;
    assert_int_equal(load_payload(&payload, &error), TAPER_OK);
    for (size_t i = 0; i < n; i++) {
        const uint8_t was = payload.data[cases[i].at];
        payload.data[cases[i].at] = (uint8_t)cases[i].value;
        const taper_status status = load_payload(&payload, &error);
        if (status == TAPER_OK || (cases[i].word && !strstr(error.text, cases[i].word)))
            fail_msg("case %zu: %s", i, error.text);
        payload.data[cases[i].at] = was;
    }
    formats_buffer_free(&file), formats_buffer_free(&payload);
    taper_model_free(m);
}

/* At 16, the decoder's depth; then the cells across and down. */
static void illegal_cells_are_refused(void **unused) {
    (void)unused;
    static const illegal_byte cases[] = {
        {17, 0, "0 x 2 cells"},
        {18, 0, "3 x 0 cells"},
        {17, 4, "4 x 2 cells"},
        {18, 3, "3 x 3 cells"},
        {17, 255, "255 x 2 cells"},
        {17, 2, NULL}, /* other layers than follow */
        {0, 1, NULL},  /* the cells are read as the mean */
        {0, 4, NULL},  /* what follows is read as convolutional layers */
        {0, 5, "family 5"},
        {8, 2 + 16, "parts of a decoder"},
        {16, 1, "with a decoder"}};
    refuse_each(tiny_gradients_unwritten(plain_shape, (codec_cells){3, 2}, SEED), cases,
                sizeof cases / sizeof *cases);
}

/* Of pixels and of cells, grey and in colour; the weights are counted as they are stored. */
static void convolutional_models_round_trip(void **unused) {
    (void)unused;
    for (int i = 0; i < 8; i++) {
        tiny_shape s = plain_shape;
        s.window.channels = i & 1 ? 3 : 1, s.depth = i & 2 ? 2 : 1;
        const codec_cells cells = i & 4 ? (codec_cells){3, 2} : (codec_cells){0, 0};
        taper_model *m = tiny_convolutions_unwritten(s, cells, SEED), *back;
        formats_buffer file = write_model(m, 0);
        assert_int_equal(taper_model_load(&back, file.data, file.size, NULL, NULL), TAPER_OK);
        const taper_model_info info = info_of_model(back);
        assert_string_equal(taper_family_name(info.family), "pooling");
        assert_true(info.convolutions == 2 && info.embedding && info.cells_across == cells.across);
        uint64_t weights = m->network.inputs, work = 0;
        for (uint32_t l = 0; l < m->network.encoder.depth; l++) {
            const codec_layer *layer = &m->network.encoder.layer[l];
            const uint64_t n = codec_layer_weights(layer);
            weights += n + codec_layer_rows(layer);
            work += layer->map.width ? n * codec_map_places(layer->map) : n;
        }
        assert_true(info.weights == weights && info.work >= work / 30 && info.work <= 99 + work);
        assert_same_encoder(&m->network, &back->network);
        taper_model_free(m), taper_model_free(back);
        formats_buffer_free(&file);
    }
}

/* At 16, the decoder's depth; then the cells, the number of layers, and their channels, 3 and 4. */
static void illegal_convolutions_are_refused(void **unused) {
    (void)unused;
    static const illegal_byte cases[] = {{17, 1, "1 x 0 cells"},
                                         {18, 2, "0 x 2 cells"},
                                         {19, 0, "0 convolutional layers"},
                                         {19, 7, "7 convolutional layers before 2 others"},
                                         {19, 255, "255 convolutional layers"},
                                         {19, 1, NULL}, /* other layers than follow */
                                         {20, 0, "3 x 3 places and 0 channels"},
                                         {21, 255, "3 x 3 places and 65283 channels"},
                                         {20, 4, NULL}, /* other weights than follow */
                                         {22, 0, "2 x 2 places and 0 channels"},
                                         {0, 5, "family 5"},
                                         {8, 2 + 16, "parts of a decoder"},
                                         {16, 1, "family pooling with a decoder"}};
    refuse_each(tiny_convolutions_unwritten(plain_shape, (codec_cells){0, 0}, SEED), cases,
                sizeof cases / sizeof *cases);
}

static void weights_are_stored_finely(void **unused) {
    (void)unused;
    static const int asked[] = {0, 12, 8, 16}, stored[] = {12, 12, 8, 16};
    for (int i = 0; i < 4; i++) {
        taper_model *exact = tiny_embedding_unwritten(plain_shape, SEED);
        taper_model *m = tiny_embedding_unwritten(plain_shape, SEED);
        formats_buffer file = write_model(m, asked[i]);
        double steps = (1 << (stored[i] - 1)) - 1, worst = 0;
        const codec_layer *was = exact->network.encoder.layer, *is = m->network.encoder.layer;
        for (uint32_t r = 0; r < was->outputs; r++) {
            const float *row = was->weight + r * was->inputs, *now = is->weight + r * was->inputs;
            double top = 0;
            for (uint32_t c = 0; c < was->inputs; c++) top = fmax(top, fabs(row[c]));
            for (uint32_t c = 0; c < was->inputs; c++)
                worst = fmax(worst, fabs(row[c] - now[c]) / (top / steps));
        }
        assert_true(worst > 0.45 && worst <= 0.501);
        formats_buffer_free(&file);
        taper_model_free(m), taper_model_free(exact);
    }
}

/* --- the record ------------------------------------------------------------------------------ */

static taper_status write_with(const char *objective, float alpha, uint32_t classes,
                               formats_buffer *out, taper_error *error) {
    taper_model *m = tiny_embedding_unwritten(plain_shape, SEED);
    codec_weight_precision precision = {0};
    memset(m->info.objective, 'a', sizeof m->info.objective); /* and no end, unless it has one */
    memcpy(m->info.objective, objective, strlen(objective) + (strlen(objective) < 32));
    m->info.alpha = alpha, m->info.classes = classes;
    *error = (taper_error){0};
    taper_status status = codec_model_write(m, &precision, out, error);
    assert_int_equal(status, error->status);
    taper_model_free(m);
    return status;
}

#define MOST_NAME "abcdefghijklmnopqrstuvwxyz-0189" /* 31 bytes */

static void records_may_hold_what_they_may(void **unused) {
    (void)unused;
    static const struct {
        const char *objective;
        float alpha;
        uint32_t classes;
        const char *word; /* NULL: legal */
    } cases[] = {{"", 0, 0, NULL},
                 {"nca", 0, 2, NULL},
                 {MOST_NAME, 2e-20f, 1 << 20, NULL},
                 {"mcml", 9e19f, 10, NULL},
                 {MOST_NAME "2", 0, 0, "objective"},
                 {"NCA", 0, 0, "objective"},
                 {"log nca", 0, 0, "objective"},
                 {"nc\xC3\xA9", 0, 0, "objective"},
                 {"nca", -1, 0, "degrees of freedom"},
                 {"nca", 1e-21f, 0, "degrees of freedom"},
                 {"nca", 1e21f, 0, "degrees of freedom"},
                 {"nca", NAN, 0, "degrees of freedom"},
                 {"nca", INFINITY, 0, "degrees of freedom"},
                 {"nca", 0, 1, "number of classes"},
                 {"nca", 0, (1 << 20) + 1, "number of classes"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        formats_buffer out = formats_buffer_make(1 << 20);
        taper_model *m = NULL;
        taper_error error;
        taper_status status =
            write_with(cases[i].objective, cases[i].alpha, cases[i].classes, &out, &error);
        if (cases[i].word) {
            assert_int_equal(status, TAPER_ERR_ARG);
            assert_non_null(strstr(error.text, cases[i].word));
            assert_int_equal(out.size, 0);
        } else {
            assert_int_equal(status, TAPER_OK);
            assert_int_equal(taper_model_load(&m, out.data, out.size, NULL, NULL), TAPER_OK);
            assert_string_equal(m->info.objective, cases[i].objective);
            assert_true(m->info.alpha == cases[i].alpha && m->info.classes == cases[i].classes);
        }
        taper_model_free(m);
        formats_buffer_free(&out);
    }
}

/* --- illegal files --------------------------------------------------------------------------- */

/* At 8: flags, hidden, code, depth, width of 4 bytes, depth. From the end of a model that is not
 * padded: objective "dt-nca", alpha, classes. */
enum { FLAGS_AT = 8, DEPTH_AT = 11, WIDTH_AT = 12, DECODER_AT = 16 };
enum { OBJECTIVE = -15, ITS_END = -9, ALPHA_TOP = -5, CLASSES = -4, CLASSES_TOP = -1 };

static void illegal_fields_are_refused_by_name(void **unused) {
    (void)unused;
    static const struct {
        int at, value;
        const char *word;
    } cases[] = {{FLAGS_AT, 3, "no linear path"},
                 {FLAGS_AT, 2 + 4 + 8, NULL},
                 {FLAGS_AT, 2 + 4 + 16, "a conditional model or a head"},
                 {FLAGS_AT, 2 + 8, NULL}, /* takes a gain, which is not there */
                 {FLAGS_AT, 2 + 16, "parts of a decoder"},
                 {FLAGS_AT, 2 + 32, "parts of a decoder"},
                 {FLAGS_AT, 2 + 64, NULL}, /* takes a lap */
                 {FLAGS_AT, 2 + 4 + 128, "parts of a decoder"},
                 {FLAGS_AT, 2 + 128, "units with feedback"},
                 {FLAGS_AT, 0, NULL}, /* a linear path, and an encoder beside it */
                 {0, 0, "pca"},
                 {0, 2, "conv"},
                 {DEPTH_AT, 0, NULL}, /* no encoder either */
                 {WIDTH_AT, 0, "layer of 0"},
                 {DECODER_AT, 9, "stack of 9"},
                 {OBJECTIVE, 'D', "objective"},
                 {ITS_END, 'x', NULL},
                 {ALPHA_TOP, 0xC1, "degrees of freedom"},
                 {ALPHA_TOP, 0x7F, "degrees of freedom"},
                 {CLASSES, 1, "number of classes"},
                 {CLASSES_TOP, 1, "number of classes"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        taper_model *m = tiny_embedding_unwritten(plain_shape, SEED);
        formats_buffer file = write_model(m, 0), payload = payload_of(&file);
        taper_error error;
        assert_int_equal(load_payload(&payload, &error), TAPER_OK);
        size_t at = (size_t)cases[i].at + (cases[i].at < 0 ? payload.size : 0);
        payload.data[at] = (uint8_t)cases[i].value;
        taper_status status = load_payload(&payload, &error);
        if (status == TAPER_OK ||
            (cases[i].word && (status != TAPER_ERR_CORRUPT || !strstr(error.text, cases[i].word))))
            fail_msg("case %zu: %s", i, error.text);
        formats_buffer_free(&file), formats_buffer_free(&payload);
        taper_model_free(m);
    }
}

/* A tiny model is filled up with zeros: no fewer, no more, and zeros. */
static void padding_is_as_it_must_be(void **unused) {
    (void)unused;
    tiny_shape s = {.window = {2, 1, 1}, .units = 1, .depth = 1};
    taper_model *m = tiny_embedding_unwritten(s, SEED);
    formats_buffer file = write_model(m, 0), payload = payload_of(&file);
    taper_error error;
    assert_int_equal(payload.size, FORMATS_MODEL_LEAST);
    for (size_t at = payload.size - 100; at < payload.size; at++) {
        assert_int_equal(payload.data[at], 0);
        payload.data[at] = 1;
        assert_int_equal(load_payload(&payload, &error), TAPER_ERR_CORRUPT);
        assert_non_null(strstr(error.text, "padding"));
        payload.data[at] = 0;
    }
    assert_int_equal(load_payload(&payload, &error), TAPER_OK);
    formats_write_u8(&payload, 0);
    assert_int_equal(load_payload(&payload, &error), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "bytes follow"));
    formats_buffer_free(&file), formats_buffer_free(&payload);
    taper_model_free(m);
}

static void parts_of_decoders_are_not_written(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 9; kind++) {
        taper_model *m = kind < 7
                             ? tiny_embedding_unwritten(plain_shape, SEED)
                             : tiny_convolutions_unwritten(plain_shape, (codec_cells){0, 0}, SEED);
        codec_weight_precision precision = {0};
        formats_buffer out = formats_buffer_make(1 << 20);
        if (kind == 0) m->info.family = TAPER_FAMILY_PCA;
        if (kind == 1) m->tied = 1;
        if (kind == 2) m->window.lap = &m->lap;
        if (kind == 3) m->info.binary = 1, m->network.code = CODEC_LOGISTIC;
        if (kind == 4) m->network.tied_gain = 1;
        if (kind == 5) m->info.family = TAPER_FAMILY_GRADIENTS; /* without cells */
        if (kind == 6) m->cells = (codec_cells){2, 2};
        if (kind == 7) m->info.family = TAPER_FAMILY_DENSE;
        if (kind == 8) m->window.width++; /* the map is of another window */
        assert_int_equal(codec_model_write(m, &precision, &out, NULL), TAPER_ERR_ARG);
        taper_model_free(m);
        formats_buffer_free(&out);
    }
}

/* A payload cut anywhere is refused; any byte changed: refused, or a model that can be used. */
static void load_or_refuse(taper_model *m) {
    uint64_t state = SEED;
    formats_buffer file = write_model(m, 0), payload = payload_of(&file);
    taper_error error;
    size_t size = payload.size;
    for (payload.size = FORMATS_MODEL_LEAST; payload.size < size; payload.size++)
        assert_int_not_equal(load_payload(&payload, &error), TAPER_OK);
    for (size_t i = 0; i < 3000; i++) {
        size_t at = i < 200 ? i % 40 : (size_t)picture_random(&state) % size;
        uint8_t was = payload.data[at];
        payload.data[at] = (uint8_t)picture_random(&state);
        load_payload(&payload, &error);
        payload.data[at] = was;
    }
    assert_int_equal(load_payload(&payload, &error), TAPER_OK);
    formats_buffer_free(&file), formats_buffer_free(&payload);
    taper_model_free(m);
}

static void any_payload_loads_or_is_refused(void **unused) {
    (void)unused;
    load_or_refuse(tiny_embedding_unwritten(plain_shape, SEED));
    load_or_refuse(tiny_convolutions_unwritten(plain_shape, (codec_cells){0, 0}, SEED));
    load_or_refuse(tiny_convolutions_unwritten(plain_shape, (codec_cells){3, 2}, SEED));
}

/* --- where a decoder is wanted --------------------------------------------------------------- */

static void encoders_refuse_it(void **unused) {
    (void)unused;
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *m = tiny_embedding_make(plain_shape, SEED, &file);
    taper_encoder *e;
    taper_error error;
    assert_int_equal(taper_encoder_new(&e, m, NULL, &error), TAPER_ERR_ARG);
    assert_null(e);
    assert_non_null(strstr(error.text, "no decoder"));
    taper_model_free(m);
    formats_buffer_free(&file);
}

/* The same container as if an embedding model had made it, which it carries or not. */
static formats_buffer claim(const formats_buffer *honest, const formats_buffer *model, uint64_t id,
                            int carry) {
    formats_buffer out = formats_buffer_make(1 << 20);
    formats_front f;
    assert_int_equal(formats_front_read(honest->data, honest->size, NULL, &f, NULL), TAPER_OK);
    size_t front = f.front_size;
    f.model_id = id;
    if (carry) {
        f.model = malloc(model->size);
        assert_non_null(f.model);
        memcpy(f.model, model->data, f.model_size = model->size);
    }
    assert_int_equal(formats_front_write(&f, &out, NULL), TAPER_OK);
    formats_write_bytes(&out, honest->data + front, honest->size - front);
    formats_front_free(&f);
    return out;
}

static void containers_that_claim_it_are_corrupt(void **unused) {
    (void)unused;
    formats_buffer file = formats_buffer_make(1 << 20), other = formats_buffer_make(1 << 20);
    taper_model *m = tiny_embedding_make(plain_shape, SEED, &file);
    taper_model *decodes = tiny_binary_make(plain_shape, SEED, &other);
    taper_image image = dct_picture(12, 10, 1, 3);
    taper_encode_options options = {.quick = 1};
    formats_buffer honest = dct_encode(decodes, &image, 1, &options, 0);
    formats_buffer pixels = formats_buffer_make(1 << 20), again = formats_buffer_make(1 << 20);
    taper_sink sink = dct_sink(&again);
    for (int carry = 0; carry < 2; carry++) {
        formats_buffer bad = claim(&honest, &file, m->info.id, carry);
        const taper_model *given = carry ? NULL : m;
        formats_memory memory = {bad.data, bad.size};
        taper_source source = formats_memory_source(&memory);
        taper_decoder *d;
        taper_error error;
        taper_verify_report report = {.size = sizeof report};
        assert_int_equal(dct_pull(bad.data, bad.size, given, &pixels, NULL), TAPER_ERR_CORRUPT);
        assert_int_equal(stream_decoder(&d, given, NULL, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_push(d, bad.data, bad.size, &error), TAPER_ERR_CORRUPT);
        assert_non_null(strstr(error.text, "no decoder"));
        close_decoder(d);
        assert_int_equal(taper_repack(&source, given, 1, 0, &sink, NULL, NULL), TAPER_ERR_CORRUPT);
        assert_int_equal(taper_verify(&source, &report, NULL, NULL),
                         carry ? TAPER_ERR_CORRUPT : TAPER_OK);
        formats_buffer_free(&bad);
    }
    assert_int_equal(dct_pull(honest.data, honest.size, m, &pixels, NULL), TAPER_ERR_MODEL);
    formats_buffer_free(&honest), formats_buffer_free(&pixels), formats_buffer_free(&again);
    formats_buffer_free(&file), formats_buffer_free(&other), formats_image_free(&image);
    taper_model_free(m), taper_model_free(decodes);
}

int main(void) {
    printf("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_round_trip),
        cmocka_unit_test(models_of_gradients_round_trip),
        cmocka_unit_test(illegal_cells_are_refused),
        cmocka_unit_test(convolutional_models_round_trip),
        cmocka_unit_test(illegal_convolutions_are_refused),
        cmocka_unit_test(weights_are_stored_finely),
        cmocka_unit_test(records_may_hold_what_they_may),
        cmocka_unit_test(illegal_fields_are_refused_by_name),
        cmocka_unit_test(padding_is_as_it_must_be),
        cmocka_unit_test(parts_of_decoders_are_not_written),
        cmocka_unit_test(any_payload_loads_or_is_refused),
        cmocka_unit_test(encoders_refuse_it),
        cmocka_unit_test(containers_that_claim_it_are_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
