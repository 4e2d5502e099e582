/* test_codes.c -- codes without pixels: values, planes, layers, however the bytes come. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/render/picture_renderer.h"
#include "codec/bitplane/head.h"
#include "codec/decoder/front_load.h"
#include "codec/decoder/group_reader.h"
#include "infos.h"
#include "model_zoo.h"

static int make(void **state) {
    static model_zoo zoo;
    zoo_make_drawings(&zoo, TAPER_DRAWINGS_LOSSY); /* indexed images have no codes */
    *state = &zoo;
    return 0;
}

static int drop(void **state) {
    zoo_free(*state);
    return 0;
}

enum { MOST = 1 << 16 };

typedef struct codes {
    taper_status status;
    size_t windows;
    taper_completeness done;
    float value[MOST];
    uint8_t planes[MOST];
} codes;

static codes *take(taper_decoder *d, uint64_t i, uint32_t units, uint32_t passes) {
    codes *c = calloc(1, sizeof *c);
    taper_image_info info = {.size = sizeof info};
    assert_non_null(c);
    assert_int_equal(taper_container_get_image(taper_decoder_container(d), i, &info, NULL),
                     TAPER_OK);
    c->windows = (size_t)info.columns * info.rows;
    assert_true(c->windows * units <= MOST);
    c->status = taper_decoder_codes(d, i, units, passes, c->value, c->planes, &c->done, NULL);
    return c;
}

static void assert_same(const codes *a, const codes *b, uint32_t units) {
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->windows, b->windows);
    assert_memory_equal(a->value, b->value, a->windows * units * sizeof(float));
    assert_memory_equal(a->planes, b->planes, a->windows * units);
    assert_int_equal(a->done.passes, b->done.passes);
}

static uint32_t units_of(const taper_model *model) { return info_of_model(model).units; }

/* Through the network, whole codes are the pixels that rendering gives, however the bytes come. */
static void whole_codes_are_the_pixels(void **state) {
    model_zoo *z = *state;
    for (int m = 0; m < ZOO_MODELS; m++) {
        const taper_model *model = z->model[m];
        const formats_buffer *file = &z->file[m][1];
        uint32_t units = units_of(model);
        formats_memory memory = {file->data, file->size * 3 / 4};
        taper_source source;
        taper_decoder *d[3] = {zoo_open(model, &memory, &source), zoo_new(model), zoo_new(model)};
        codec_backend backend;
        codec_backend_cpu(&backend);
        assert_int_equal(taper_decoder_push(d[1], memory.bytes, memory.size, NULL), TAPER_OK);
        for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
            uint64_t data;
            assert_int_equal(zoo_supply_planned(d[2], file, i, memory.size, 3, &data), TAPER_OK);
            codes *c[3];
            for (int way = 0; way < 3; way++) c[way] = take(d[way], i, units, UINT32_MAX);
            assert_same(c[0], c[1], units), assert_same(c[0], c[2], units);
            zoo_rendered want = zoo_render(d[0], i);
            size_t inputs = model->network.inputs;
            float *windows = malloc(c[0]->windows * inputs * sizeof *windows);
            uint8_t pixels[4096];
            taper_image out = z->image[i];
            out.pixels = pixels;
            assert_non_null(windows);
            assert_int_equal(codec_network_decode(&model->network, &backend, c[0]->value,
                                                  c[0]->windows, windows),
                             TAPER_OK);
            int16_t *values = malloc(c[0]->windows * inputs * sizeof *values);
            assert_non_null(values);
            codec_picture_values(windows, c[0]->windows * inputs, values);
            assert_int_equal(codec_render_windows(model, c[0]->done.passes, NULL, values, &out),
                             TAPER_OK);
            /* The codes are floats. Where nothing is known, the restoration network's gain is so
             * large that other roundings of its input become some levels. */
            int most = c[0]->done.passes ? 1 : 8;
            for (size_t k = 0; k < want.bytes; k++)
                assert_true(abs(pixels[k] - want.pixels[k]) <= most);
            free(windows), free(values);
            for (int way = 0; way < 3; way++) free(c[way]);
        }
        codec_backend_close(&backend);
        for (int way = 0; way < 3; way++) close_decoder(d[way]);
    }
}

/* The group's state as the inner decoder leaves it, at some pass. */
static void codes_are_the_groups_state(void **state) {
    model_zoo *z = *state;
    int decoded = 0, raised_ones = 0;
    for (int m = 0; m < ZOO_MODELS; m++)
        for (int k = 1; k < ZOO_FILES; k++) {
            const taper_model *model = z->model[m];
            const formats_buffer *file = &z->file[m][k];
            uint32_t units = units_of(model);
            formats_memory memory = {file->data, file->size * 2 / 3};
            taper_source source;
            taper_decoder *d = zoo_open(model, &memory, &source);
            formats_front f;
            uint32_t passes = info_of_model(model).passes * (uint32_t)k / 5;
            uint32_t enough[FORMATS_MAX_RATE_CLASSES];
            for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) enough[t] = passes;
            codec_group_readers readers = {.pass_limit = enough};
            codec_group_reader *r;
            assert_int_equal(codec_front_load(&source, NULL, &f, NULL), TAPER_OK);
            for (uint32_t i = 0; i < ZOO_IMAGES; i++) {
                uint32_t g = formats_front_group(&f, i), few = units / 3;
                assert_int_equal(
                    codec_group_readers_open(&readers, model, &f, g, &source, &r, NULL), TAPER_OK);
                uint32_t place = formats_front_place(&f, i) - f.group_first[g];
                uint32_t first = r->first[place];
                codes *c = take(d, i, few, passes);
                assert_true(c->done.passes <= passes);
                decoded += c->done.passes == passes;
                assert_int_equal(c->windows, r->first[place + 1] - first);
                float *want = malloc(c->windows * units * sizeof *want);
                assert_non_null(want);
                codec_head_dequantise(&r->strips.coder->group, first, (uint32_t)c->windows, want);
                const codec_code_tables *t = r->strips.coder->group.tables;
                for (uint32_t w = 0; w < c->windows; w++)
                    for (uint32_t u = 0; u < few; u++) {
                        uint32_t known = codec_planes_known(&r->strips.coder->group, u, first + w),
                                 raised = (uint32_t)t->planes[u] - model->tables.planes[u];
                        assert_true(c->value[w * few + u] == want[w * units + u]);
                        assert_int_equal(c->planes[w * few + u],
                                         known > raised ? known - raised : 0);
                        raised_ones += raised && known;
                    }
                free(want), free(c);
            }
            codec_group_readers_close(&readers);
            formats_front_free(&f);
            close_decoder(d);
        }
    assert_true(decoded > ZOO_MODELS * ZOO_IMAGES && raised_ones);
}

/* Stopped at a layer, a whole file's codes are those of the file that is cut there; whatever was
 * decoded before. */
static void layers_are_where_files_are_cut(void **state) {
    model_zoo *z = *state;
    uint64_t random = 3;
    int several = 0;
    for (int m = 0; m < ZOO_MODELS; m++)
        for (int k = 1; k < 3; k++) {
            const taper_model *model = z->model[m];
            const formats_buffer *file = &z->file[m][k];
            uint32_t units = units_of(model) / 2, layers = dct_info(file, model).layers;
            formats_memory whole = {file->data, file->size};
            taper_source source, cut_source;
            taper_decoder *d = zoo_open(model, &whole, &source), *supplied = zoo_new(model);
            assert_int_equal(taper_decoder_supply(supplied, 0, file->data, file->size, NULL),
                             TAPER_OK);
            several += layers > 1;
            for (int step = 0; step < 12; step++) {
                uint32_t layer = picture_random(&random) % layers, passes;
                uint64_t i = picture_random(&random) % ZOO_IMAGES, cut;
                assert_int_equal(taper_container_layer(taper_decoder_container(d), i, layer, &cut,
                                                       &passes, NULL),
                                 TAPER_OK);
                formats_memory memory = {file->data, (size_t)cut};
                taper_decoder *short_one = zoo_open(model, &memory, &cut_source);
                codes *want = take(short_one, i, units, UINT32_MAX);
                codes *got = take(d, i, units, passes), *other = take(supplied, i, units, passes);
                assert_int_equal(want->done.passes, passes);
                assert_same(want, got, units), assert_same(want, other, units);
                free(want), free(got), free(other);
                if (step % 3 == 0) { /* pixels are whole in between */
                    zoo_rendered all = zoo_render(d, i);
                    assert_true(all.status == TAPER_OK && all.done.complete);
                }
                close_decoder(short_one);
            }
            close_decoder(d), close_decoder(supplied);
        }
    assert_true(several >= 2);
}

/* Of a binary model: bits, which are those that its encoder's network gives. */
static void binary_codes_are_bits(void **state) {
    model_zoo *z = *state;
    const taper_model *model = z->model[1];
    const formats_buffer *file = &z->file[1][3];
    uint32_t units = units_of(model), ones = 0;
    formats_memory memory = {file->data, file->size};
    taper_source source;
    taper_decoder *d = zoo_open(model, &memory, &source);
    codec_backend backend;
    codec_backend_cpu(&backend);
    for (uint64_t i = 0; i < ZOO_IMAGES; i++)
        for (uint32_t passes = 0; passes <= units; passes += 12) {
            codes *c = take(d, i, units, passes);
            size_t inputs = model->network.inputs;
            float *windows = malloc(c->windows * inputs * sizeof *windows),
                  *x = malloc(c->windows * units * sizeof *x);
            assert_true(windows && x);
            codec_windows_read(model->window, &z->image[i], windows);
            assert_int_equal(
                codec_network_encode(&model->network, &backend, windows, c->windows, x), TAPER_OK);
            for (size_t w = 0; w < c->windows; w++)
                for (uint32_t u = 0; u < units; u++) {
                    size_t at = w * units + u;
                    assert_int_equal(c->planes[at], u < passes);
                    float bit = x[at] > 0 ? 1 : 0;
                    assert_true(c->value[at] == (u < passes ? bit - model->tables.centre : 0));
                    ones += bit > 0;
                }
            assert_int_equal(c->done.passes, passes);
            free(windows), free(x), free(c);
        }
    assert_true(ones > 0 && model->tables.centre > 0);
    codec_backend_close(&backend);
    close_decoder(d);
}

static void misuse_and_limits_are_told(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[0][1];
    uint32_t units = units_of(z->model[0]), passes;
    uint64_t cut;
    static float value[MOST];
    formats_memory memory = {file->data, file->size};
    taper_source source;
    taper_decoder *d = zoo_open(z->model[0], &memory, &source), *none = zoo_new(z->model[0]);
    uint32_t layers = dct_info(file, z->model[0]).layers;
    taper_error error;
    assert_int_equal(taper_decoder_codes(none, 0, 1, 1, value, NULL, NULL, &error),
                     TAPER_ERR_TRUNCATED);
    assert_int_equal(
        taper_container_layer(taper_decoder_container(none), 0, 0, &cut, &passes, NULL),
        TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_codes(d, 0, 0, 1, value, NULL, NULL, &error), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_codes(d, 0, units + 1, 1, value, NULL, NULL, &error),
                     TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_codes(d, 0, units, 1, NULL, NULL, NULL, &error), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_codes(d, ZOO_IMAGES, 1, 1, value, NULL, NULL, &error),
                     TAPER_ERR_ARG);
    assert_int_equal(
        taper_container_layer(taper_decoder_container(d), 0, layers, &cut, &passes, NULL),
        TAPER_ERR_ARG);
    assert_int_equal(
        taper_container_layer(taper_decoder_container(d), ZOO_IMAGES, 0, &cut, &passes, NULL),
        TAPER_ERR_ARG);
    assert_int_equal(
        taper_container_layer(taper_decoder_container(d), 0, layers - 1, &cut, &passes, NULL),
        TAPER_OK);
    assert_int_equal(cut, file->size);
    assert_int_equal(taper_decoder_codes(d, 0, units, passes, value, NULL, NULL, NULL), TAPER_OK);
    close_decoder(d), close_decoder(none);
    int ended[2] = {0};
    for (uint64_t most = 1000; most < 1 << 18; most += most / 8) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_memory = most};
        if (open_decoder(&d, &source, z->model[0], &limits, NULL) != TAPER_OK) continue;
        taper_status status = taper_decoder_codes(d, 3, units, UINT32_MAX, value, NULL, NULL, NULL);
        assert_true(status == TAPER_OK || status == TAPER_ERR_LIMIT);
        ended[status == TAPER_OK]++;
        close_decoder(d);
    }
    assert_true(ended[0] && ended[1]);
}

/* A damaged chunk: told, with the codes of what lies before it. */
static void damage_is_told(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[0][1];
    uint32_t units = units_of(z->model[0]), passes;
    uint64_t cut;
    taper_decoder *d = zoo_new(z->model[0]);
    assert_int_equal(taper_decoder_supply(d, 0, file->data, file->size, NULL), TAPER_OK);
    assert_int_equal(taper_container_layer(taper_decoder_container(d), 6, 2, &cut, &passes, NULL),
                     TAPER_OK);
    uint8_t wrong = file->data[file->size - 1] ^ 1; /* the last group's last layer */
    assert_int_equal(taper_decoder_supply(d, file->size - 1, &wrong, 1, NULL), TAPER_OK);
    codes *few = take(d, 6, units, passes), *all = take(d, 6, units, UINT32_MAX);
    assert_true(few->status == TAPER_OK && few->done.passes == passes);
    assert_true(all->status == TAPER_ERR_CORRUPT && all->done.passes > passes);
    free(few), free(all);
    close_decoder(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_codes_are_the_pixels),
        cmocka_unit_test(codes_are_the_groups_state),
        cmocka_unit_test(layers_are_where_files_are_cut),
        cmocka_unit_test(binary_codes_are_bits),
        cmocka_unit_test(misuse_and_limits_are_told),
        cmocka_unit_test(damage_is_told),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
