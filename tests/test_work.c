/* test_work.c -- the limit on work: what a model asks of a processor, by its architecture. */
#include "cmocka_all.h"
#include "codec/model/work.h"
#include "tests/open_decoder.h"
#include "codec/taper.h"
#include "dct_model.h"
#include "infos.h"
#include "random_conditional.h"

enum { DEFAULT = 200000 };

/* As counted when they were trained (models/README.md), without what depends on the images. */
static void models_that_ship_take_what_was_counted(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        uint64_t counted;
    } cases[] = {{"photo", 9600}, {"tiny", 12700}};
    for (size_t i = 0; i < 2; i++) {
        taper_model *m;
        assert_int_equal(taper_model_builtin(&m, cases[i].name, NULL), TAPER_OK);
        taper_model_info info = info_of_model(m);
        assert_in_range(info.work, cases[i].counted * 97 / 100, cases[i].counted * 103 / 100);
        assert_in_range(info.most_work, info.work, DEFAULT / 4);
        taper_model_free(m);
    }
}

/* Shapes alone: 3072-2048-1024-512 and back. */
static void large_autoencoders_are_within_the_default(void **unused) {
    (void)unused;
    static const uint32_t width[] = {3072, 2048, 1024, 512};
    taper_model m = {.window = {32, 32, 3, NULL}};
    m.network.inputs = 3072, m.network.units = 512;
    m.network.encoder.depth = m.network.decoder.depth = 3;
    for (int l = 0; l < 3; l++) {
        m.network.encoder.layer[l].inputs = m.network.decoder.layer[2 - l].outputs = width[l];
        m.network.encoder.layer[l].outputs = m.network.decoder.layer[2 - l].inputs = width[l + 1];
    }
    assert_int_equal(codec_work_of(&m).usual, 8704);
    m.network.encoder.layer[1].outputs = m.network.encoder.layer[2].inputs = 2048;
    assert_int_equal(codec_work_of(&m).usual, 8704); /* decoding is no more */
    assert_int_equal(codec_work_of(&m).most, 11264);
    assert_int_equal(codec_work_check(&m, DEFAULT, NULL), TAPER_OK);
}

/* Windows of 2x2, a network of 256 hidden units that is run 200 times for each: all zeros, so that
 * the file is small. */
static taper_model *hostile_model(formats_buffer *file) {
    formats_buffer plain = formats_buffer_make(1 << 20);
    taper_model *m = dct_model_in_parts((codec_window){2, 2, 3, NULL}, 0, 1, 4, &plain);
    formats_buffer_free(&plain);
    codec_code_tables *t = &m->tables;
    codec_conditional *c = calloc(1, sizeof *c);
    assert_non_null(c);
    *c = (codec_conditional){.kinds = CODEC_CONDITIONAL_KINDS,
                             .hidden = 256,
                             .own = 12,
                             .neighbour_units = 12,
                             .units = 12,
                             .end = t->n_passes,
                             .stages = 200};
    assert_in_range(t->n_passes, c->stages, 12 * 15 * 4);
    assert_int_equal(codec_conditional_alloc(c), TAPER_OK);
    for (uint32_t s = 0; s < c->stages; s++) c->begin[s] = s;
    codec_conditional_pack(c);
    t->conditional = c;
    codec_weight_precision precision = {0.05, 8};
    assert_int_equal(codec_model_write(m, &precision, file, NULL), TAPER_OK);
    return m;
}

static void models_that_take_hours_are_refused(void **unused) {
    (void)unused;
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *m = hostile_model(&file), *loaded;
    assert_in_range(file.size, 1, 4000);
    uint64_t least = 200 * 2 * 256 * 256 / 4; /* its layers alone */
    taper_error error = {0};
    assert_int_equal(taper_model_load(&loaded, file.data, file.size, NULL, &error),
                     TAPER_ERR_LIMIT);
    assert_null(loaded);
    char figure[40];
    uint64_t most = info_of_model(m).most_work;
    snprintf(figure, sizeof figure, " %llu ", (unsigned long long)most);
    assert_non_null(strstr(error.text, figure));
    assert_non_null(strstr(error.text, "limit of 200000"));
    assert_true(error.fact == TAPER_FACT_MAX_WORK && error.needed == most);
    for (int more = 0; more < 2; more++) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_work = most - 1 + (uint64_t)more};
        assert_int_equal(taper_model_load(&loaded, file.data, file.size, &limits, NULL),
                         more ? TAPER_OK : TAPER_ERR_LIMIT);
    }
    taper_model_info info = info_of_model(loaded);
    assert_in_range(info.work, least, info.most_work);
    assert_true(info.most_work == most);
    taper_model_free(loaded), taper_model_free(m);
    formats_buffer_free(&file);
}

/* A container that carries such a model is refused, too, and decoded where the limit is raised. */
static void models_that_containers_carry_are_limited(void **unused) {
    (void)unused;
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *m = hostile_model(&file);
    taper_image image = dct_picture(8, 8, 3, 1);
    taper_encode_options options = {
        .embed_model = 1, .model_bytes = file.data, .model_size = file.size};
    formats_buffer container = dct_encode(m, &image, 1, &options, 0);
    formats_memory memory = {container.data, container.size};
    taper_source source = formats_memory_source(&memory);
    for (int more = 0; more < 2; more++) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_work = more ? UINT64_MAX : 0};
        taper_decoder *decoder;
        assert_int_equal(open_decoder(&decoder, &source, NULL, &limits, NULL),
                         more ? TAPER_OK : TAPER_ERR_LIMIT);
        close_decoder(decoder);
    }
    formats_image_free(&image);
    formats_buffer_free(&container), formats_buffer_free(&file);
    taper_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_that_ship_take_what_was_counted),
        cmocka_unit_test(large_autoencoders_are_within_the_default),
        cmocka_unit_test(models_that_take_hours_are_refused),
        cmocka_unit_test(models_that_containers_carry_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
