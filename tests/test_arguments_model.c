/* test_arguments_model.c -- every function of codec/taper_model.h with every argument at its
 * extremes; see arguments.h. */
#include "arguments.h"
#include "dct_model.h"
#include "infos.h"
#include "tiny_embedding_model.h"

enum { SIDE = 8, UNITS = 5 };

static taper_model *coder, *embedder; /* of one size; of images of any size */
static formats_buffer coder_file, embedder_file;
static taper_image image;

static void try_family_name(void) {
    EACH_NUMBER(v) assert_non_null(taper_family_name((taper_family)*v));
}

typedef taper_status load_fn(taper_model **, const void *, size_t, const taper_limits *,
                             taper_error *);

static void try_loading(load_fn *load) {
    taper_error error = {0};
    taper_model *m;
    refused(load(NULL, coder_file.data, coder_file.size, NULL, &error), &error);
    refused(load(&m, NULL, coder_file.size, NULL, &error), &error);
    refused(load(&m, coder_file.data, coder_file.size, &argument_no_size, &error), &error);
    EACH_COUNT(v) {
        const taper_status status = allowed(load(&m, coder_file.data, *v, NULL, &error), &error);
        assert_true(status && !m);
    }
    EACH_NUMBER(v)
    for (int i = 0; i < ARGUMENT_LIMITS; i++) {
        const taper_limits limits = argument_limits(i, *v);
        allowed(load(&m, coder_file.data, coder_file.size, &limits, &error), &error);
        taper_model_free(m);
    }
}

static void try_model_load(void) { try_loading(taper_model_load); }
static void try_model_load_stages(void) { try_loading(taper_model_load_stages); }

static void try_model_load_file(void) {
    taper_error error = {0};
    taper_model *m;
    const char *path = "models/tiny.tpm";
    refused(taper_model_load_file(NULL, path, NULL, &error), &error);
    refused(taper_model_load_file(&m, NULL, NULL, &error), &error);
    refused(taper_model_load_file(&m, path, &argument_no_size, &error), &error);
    assert_int_equal(allowed(taper_model_load_file(&m, "nowhere", NULL, &error), &error),
                     TAPER_ERR_IO);
    assert_null(m);
    assert_int_equal(taper_model_load_file(&m, path, NULL, NULL), TAPER_OK);
    taper_model_free(m);
}

static void try_model_free(void) { taper_model_free(NULL); }

static void try_model_get_info(void) {
    taper_error error = {0};
    taper_model_info info = {.size = sizeof info, .units = 7}, no_size = {.units = 7};
    refused(taper_model_get_info(NULL, &info, &error), &error);
    refused(taper_model_get_info(coder, NULL, &error), &error);
    refused(taper_model_get_info(coder, &no_size, &error), &error);
    assert_true(info.units == 7 && no_size.units == 7);
}

static void try_model_builtin(void) {
    taper_error error = {0};
    taper_model *m;
    refused(taper_model_builtin(NULL, "tiny", &error), &error);
    refused(taper_model_builtin(&m, NULL, &error), &error);
    refused(taper_model_builtin(&m, "", &error), &error);
}

static void try_model_builtin_bytes(void) {
    size_t size = 1;
    assert_null(taper_model_builtin_bytes(NULL, &size));
    assert_int_equal(size, 0);
    assert_non_null(taper_model_builtin_bytes("tiny", NULL));
}

static void try_model_get_layer(void) {
    taper_error error = {0};
    taper_model_layer layer = {.size = sizeof layer};
    const uint32_t layers = info_of_model(coder).layers;
    refused(taper_model_get_layer(NULL, 0, &layer, &error), &error);
    refused(taper_model_get_layer(coder, 0, NULL, &error), &error);
    EACH_NUMBER(v)
    assert_int_equal(taper_model_get_layer(coder, (uint32_t)*v, &layer, NULL),
                     (uint32_t)*v < layers ? TAPER_OK : TAPER_ERR_ARG);
    assert_int_equal(taper_model_get_layer(coder, layers - 1, &layer, NULL), TAPER_OK);
    assert_int_equal(layer.passes, info_of_model(coder).passes);
    assert_int_equal(taper_model_get_layer(embedder, 0, &layer, NULL), TAPER_ERR_ARG);
}

static void try_model_get_unit(void) {
    taper_error error = {0};
    taper_model_unit unit = {.size = sizeof unit};
    refused(taper_model_get_unit(NULL, 0, &unit, &error), &error);
    refused(taper_model_get_unit(coder, 0, NULL, &error), &error);
    EACH_NUMBER(v)
    assert_int_equal(taper_model_get_unit(coder, (uint32_t)*v, &unit, NULL),
                     (uint32_t)*v < info_of_model(coder).units ? TAPER_OK : TAPER_ERR_ARG);
    assert_true(unit.step > 0 && unit.usual_size > 0);
    assert_int_equal(taper_model_get_unit(embedder, 0, &unit, NULL), TAPER_ERR_ARG);
}

static void try_model_layer_width(void) {
    assert_int_equal(taper_model_layer_width(NULL, 0), 0);
    EACH_NUMBER(v)
    assert_int_equal(taper_model_layer_width(embedder, (uint32_t)*v), (uint32_t)*v == 0 ? 5 * 5 * 3
                                                                      : (uint32_t)*v == 1 ? UNITS
                                                                                          : 0);
}

static void try_model_builtin_name(void) {
    assert_string_equal(taper_model_builtin_name(0), "photo");
    assert_string_equal(taper_model_builtin_name(1), "tiny");
    assert_string_equal(taper_model_builtin_name(2), "search");
    assert_null(taper_model_builtin_name(3));
    assert_null(taper_model_builtin_name(SIZE_MAX));
}

static void try_model_builtin_of(void) {
    taper_model *tiny;
    EACH_NUMBER(v) assert_null(taper_model_builtin_of(*v));
    assert_int_equal(taper_model_builtin(&tiny, "tiny", NULL), TAPER_OK);
    assert_string_equal(taper_model_builtin_of(info_of_model(tiny).id), "tiny");
    taper_model_free(tiny);
}

static void try_model_builtin_for(void) {
    assert_null(taper_model_builtin_for(NULL, 32));
    assert_null(taper_model_builtin_for("", 0));
    assert_null(taper_model_builtin_for("x", 1));
}

typedef taper_status embed_fn(taper_embedder *, const taper_image *, size_t, float *,
                              taper_error *);

static taper_embedder *embedder_of(const taper_model *m) {
    taper_embedder *e;
    assert_int_equal(taper_embedder_new(&e, m, 1, NULL), TAPER_OK);
    return e;
}

static void try_embedder_new(void) {
    taper_error error = {0};
    taper_embedder *e;
    refused(taper_embedder_new(NULL, coder, 1, &error), &error);
    refused(taper_embedder_new(&e, NULL, 1, &error), &error);
    assert_null(e);
    EACH_NUMBER(v) {
        assert_int_equal(taper_embedder_new(&e, coder, (unsigned)*v, NULL), TAPER_OK);
        taper_embedder_free(e);
    }
}

static void try_embedder_free(void) { taper_embedder_free(NULL); }

/* A geometry that is not that of the pixels is illegal, or not the model's. */
static void try_images(embed_fn *embed, const taper_model *m) {
    float codes[SIDE * SIDE * 3];
    taper_error error = {0};
    taper_embedder *e = embedder_of(m);
    EACH_NUMBER(v)
    for (int field = 0; field < 4; field++) {
        taper_image other = image;
        if (field == 0) other.width = (uint32_t)*v;
        if (field == 1) other.height = (uint32_t)*v;
        if (field == 2) other.channels = (uint8_t)*v;
        if (field == 3) other.depth = (uint8_t)*v;
        if (m == embedder && *v > 1 && field < 2) continue; /* pixels that are not there */
        const taper_status status = allowed(embed(e, &other, 1, codes, &error), &error);
        assert_true(*v == 1 || status == TAPER_ERR_ARG);
    }
    taper_image without = image;
    without.pixels = NULL;
    refused(embed(e, &without, 1, codes, &error), &error);
    taper_embedder_free(e);
}

static void try_embedding(embed_fn *embed) {
    float codes[SIDE * SIDE * 3];
    taper_error error = {0};
    taper_embedder *e = embedder_of(coder);
    refused(embed(NULL, &image, 1, codes, &error), &error);
    refused(embed(e, NULL, 1, codes, &error), &error);
    refused(embed(e, &image, 1, NULL, &error), &error);
    EACH_COUNT(v)
    assert_int_equal(allowed(embed(e, &image, *v, codes, &error), &error),
                     *v > 1 ? TAPER_ERR_ARG : TAPER_OK);
    taper_embedder_free(e);
    try_images(embed, coder);
    try_images(embed, embedder);
}

static void try_embedder_codes(void) { try_embedding(taper_embedder_codes); }
static void try_embedder_margins(void) { try_embedding(taper_embedder_margins); }

static void try_check_image(void) {
    taper_error error = {0};
    refused(taper_model_check_image(NULL, &image, &error), &error);
    refused(taper_model_check_image(coder, NULL, &error), &error);
    EACH_NUMBER(v)
    for (int field = 0; field < 4; field++) {
        taper_image other = image;
        if (field == 0) other.width = (uint32_t)*v;
        if (field == 1) other.height = (uint32_t)*v;
        if (field == 2) other.channels = (uint8_t)*v;
        if (field == 3) other.depth = (uint8_t)*v;
        allowed(taper_model_check_image(embedder, &other, &error), &error);
    }
}

static const argument_trial table[] = {
    {"taper_family_name", try_family_name},
    {"taper_model_load", try_model_load},
    {"taper_model_load_file", try_model_load_file},
    {"taper_model_load_stages", try_model_load_stages},
    {"taper_model_free", try_model_free},
    {"taper_model_get_info", try_model_get_info},
    {"taper_model_get_layer", try_model_get_layer},
    {"taper_model_get_unit", try_model_get_unit},
    {"taper_model_layer_width", try_model_layer_width},
    {"taper_model_builtin_name", try_model_builtin_name},
    {"taper_model_builtin_of", try_model_builtin_of},
    {"taper_model_builtin", try_model_builtin},
    {"taper_model_builtin_bytes", try_model_builtin_bytes},
    {"taper_model_builtin_for", try_model_builtin_for},
    {"taper_embedder_new", try_embedder_new},
    {"taper_embedder_free", try_embedder_free},
    {"taper_embedder_codes", try_embedder_codes},
    {"taper_embedder_margins", try_embedder_margins},
    {"taper_model_check_image", try_check_image},
};
enum { FUNCTIONS = sizeof table / sizeof *table };

static int make(void **state) {
    (void)state;
    coder_file = formats_buffer_make(1 << 24), embedder_file = formats_buffer_make(1 << 24);
    coder = dct_model_make((codec_window){SIDE, SIDE, 3, NULL}, 0, 2, &coder_file);
    embedder = tiny_embedding_make((tiny_shape){.window = {5, 5, 3}, .units = UNITS, .depth = 1}, 7,
                                   &embedder_file);
    image = dct_picture(SIDE, SIDE, 3, 1);
    return 0;
}

static int drop(void **state) {
    (void)state;
    formats_image_free(&image);
    taper_model_free(coder), taper_model_free(embedder);
    formats_buffer_free(&coder_file), formats_buffer_free(&embedder_file);
    return 0;
}

static void every_function_is_tried(void **state) {
    (void)state;
    argument_table_is_complete("codec/taper_model.h", table, FUNCTIONS);
}

static void extremes_are_answered(void **state) {
    (void)state;
    argument_run_all(table, FUNCTIONS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_tried),
        cmocka_unit_test(extremes_are_answered),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
