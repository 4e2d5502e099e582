/* test_embed.c -- codes of images for search: those of the network, for any threads and neighbours;
 * what a container's decoder gives; what has no code. */
#include "tests/infos.h"
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "tiny_embedding_model.h"

enum { IMAGES = 211, SIDE = 8 };
static const codec_window colour = {SIDE, SIDE, 3, NULL}, grey = {SIDE, SIDE, 1, NULL};

static taper_model *linear_model(codec_window window, uint32_t units) {
    formats_buffer file = formats_buffer_make(1 << 24);
    taper_model *model = dct_model_make(window, units, 6, &file);
    formats_buffer_free(&file);
    return model;
}

static taper_model *binary_model(int feedback) {
    const tiny_shape shape = {colour, 48, 2, CODEC_RELU, 0, 0, 0.4f, 0.25f, feedback};
    formats_buffer file = formats_buffer_make(1 << 24);
    taper_model *model = tiny_binary_make(shape, 5, &file);
    formats_buffer_free(&file);
    return model;
}

/* Without a decoder. */
static taper_model *embedding_model(void) {
    const tiny_shape shape = {.window = colour, .units = 30, .depth = 3, .hidden = CODEC_LOGISTIC};
    formats_buffer file = formats_buffer_make(1 << 24);
    taper_model *model = tiny_embedding_make(shape, 7, &file);
    formats_buffer_free(&file);
    return model;
}

static taper_image *pictures(unsigned channels) {
    taper_image *image = malloc(IMAGES * sizeof *image);
    assert_non_null(image);
    for (uint32_t i = 0; i < IMAGES; i++) image[i] = dct_picture(SIDE, SIDE, channels, i + 1);
    return image;
}

static void free_pictures(taper_image *image) {
    for (uint32_t i = 0; i < IMAGES; i++) formats_image_free(&image[i]);
    free(image);
}

/* By an embedder of its own. */
static taper_status embed_once(const taper_model *model, const taper_image *image, size_t n,
                               unsigned threads, float *codes, taper_error *error) {
    taper_embedder *e;
    TAPER_TRY(taper_embedder_new(&e, model, threads, error));
    const taper_status status = taper_embedder_codes(e, image, n, codes, error);
    taper_embedder_free(e);
    return status;
}

static float *embed(const taper_model *model, const taper_image *image, size_t n,
                    unsigned threads) {
    taper_error e = {0};
    const size_t units = model->info.units;
    float *codes = malloc(n * units * sizeof *codes);
    assert_non_null(codes);
    for (size_t i = 0; i < n * units; i++) codes[i] = NAN;
    assert_int_equal(embed_once(model, image, n, threads, codes, &e), TAPER_OK);
    return codes;
}

/* The code of least squared error: what it leaves of the image is orthogonal to every row of the
 * synthesis. Rounding alone puts the synthesis itself, as an analysis, a thousand times as far off.
 */
static void linear_codes_are_of_least_error(void **state) {
    (void)state;
    const uint32_t units = 40, inputs = 3 * SIDE * SIDE;
    taper_model *model = linear_model(colour, units);
    taper_image *image = pictures(3);
    float *codes = embed(model, image, IMAGES, 2), pixels[3 * SIDE * SIDE];
    double worst = 0;
    for (size_t n = 0; n < IMAGES; n++) {
        double left[3 * SIDE * SIDE];
        codec_windows_read(model->window, &image[n], pixels);
        for (uint32_t i = 0; i < inputs; i++) left[i] = pixels[i] - model->network.mean[i];
        for (uint32_t u = 0; u < units; u++)
            for (uint32_t i = 0; i < inputs; i++)
                left[i] -= (double)codes[n * units + u] * model->network.synthesis[u * inputs + i];
        for (uint32_t u = 0; u < units; u++) {
            double sum = 0;
            for (uint32_t i = 0; i < inputs; i++)
                sum += left[i] * model->network.synthesis[u * inputs + i];
            worst = fmax(worst, fabs(sum));
        }
    }
    assert_true(worst < 2e-3);
    free(codes), free_pictures(image), taper_model_free(model);
}

/* Layer by layer in double. */
static void plain_layers(const taper_model *model, const taper_image *image, double *code) {
    double from[3 * SIDE * SIDE];
    float pixels[3 * SIDE * SIDE];
    const codec_stack *stack = &model->network.encoder;
    codec_windows_read(model->window, image, pixels);
    for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++) from[i] = pixels[i];
    for (uint32_t l = 0; l < stack->depth; l++) {
        const codec_layer *layer = &stack->layer[l];
        for (uint32_t u = 0; u < layer->outputs; u++) {
            double sum = layer->bias[u];
            for (uint32_t i = 0; i < layer->inputs; i++)
                sum += from[i] * layer->weight[u * layer->inputs + i];
            code[u] = l + 1 < stack->depth ? 1 / (1 + exp(-sum)) : sum;
        }
        memcpy(from, code, layer->outputs * sizeof *from);
    }
}

static void models_without_a_decoder_have_codes(void **state) {
    (void)state;
    taper_model *model = embedding_model();
    taper_image *image = pictures(3);
    float *codes = embed(model, image, IMAGES, 2);
    assert_int_equal(model->info.embedding, 1);
    for (size_t n = 0; n < IMAGES; n++) {
        double want[64];
        plain_layers(model, &image[n], want);
        for (int u = 0; u < 30; u++)
            assert_true(fabs(codes[n * 30 + (size_t)u] - want[u]) < 1e-4 * (1 + fabs(want[u])));
    }
    free(codes), free_pictures(image), taper_model_free(model);
}

static void threads_and_neighbours_change_nothing(void **state) {
    (void)state;
    taper_image *image = pictures(3);
    for (int kind = 0; kind < 4; kind++) {
        taper_model *model = kind == 3 ? embedding_model()
                             : kind    ? binary_model(kind - 1)
                                       : linear_model(colour, 40);
        const size_t units = model->info.units;
        float *codes = embed(model, image, IMAGES, 1);
        for (unsigned threads = 0; threads < 9; threads += 3) {
            float *again = embed(model, image, IMAGES, threads);
            assert_memory_equal(again, codes, IMAGES * units * sizeof *codes);
            free(again);
        }
        for (size_t first = 1; first < IMAGES; first += 70) {
            const size_t n = first == 1 ? 1 : formats_smaller(100, IMAGES - first);
            float *some = embed(model, image + first, n, 2);
            assert_memory_equal(some, codes + first * units, n * units * sizeof *codes);
            free(some);
        }
        free(codes), taper_model_free(model);
    }
    free_pictures(image);
}

/* The bits that a decoder has from a container, less the same centre. */
static void binary_codes_are_the_containers(void **state) {
    (void)state;
    taper_image *image = pictures(3);
    for (int feedback = 0; feedback < 2; feedback++) {
        taper_model *model = binary_model(feedback);
        const size_t units = model->info.units;
        float *codes = embed(model, image, IMAGES, 2), *decoded = malloc(units * sizeof *decoded);
        formats_buffer file = dct_encode(model, image, IMAGES, NULL, 0);
        formats_memory memory = {file.data, file.size};
        taper_source source = formats_memory_source(&memory);
        taper_decoder *decoder;
        int ones = 0;
        assert_int_equal(open_decoder(&decoder, &source, model, NULL, NULL), TAPER_OK);
        for (size_t n = 0; n < IMAGES; n++) {
            assert_int_equal(taper_decoder_codes(decoder, n, (uint32_t)units, UINT32_MAX, decoded,
                                                 NULL, NULL, NULL),
                             TAPER_OK);
            assert_memory_equal(decoded, codes + n * units, units * sizeof *codes);
            for (size_t u = 0; u < units; u++) ones += decoded[u] > 0;
        }
        assert_in_range(ones, IMAGES, IMAGES * units - IMAGES);
        close_decoder(decoder), formats_buffer_free(&file);
        free(decoded), free(codes), taper_model_free(model);
    }
    free_pictures(image);
}

/* A grey image fills the channels; 16 bits are a finer scale. */
static void grey_and_deep_images_have_codes(void **state) {
    (void)state;
    taper_model *model = linear_model(colour, 40);
    taper_image one = dct_picture(SIDE, SIDE, 1, 3), of_three, deep;
    assert_int_equal(formats_image_make(&of_three, SIDE, SIDE, 3, 8, NULL, NULL), TAPER_OK);
    assert_int_equal(formats_image_make(&deep, SIDE, SIDE, 1, 16, NULL, NULL), TAPER_OK);
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        const uint8_t v = ((uint8_t *)one.pixels)[i];
        memset((uint8_t *)of_three.pixels + 3 * i, v, 3);
        ((uint16_t *)deep.pixels)[i] = (uint16_t)(257 * v);
    }
    const taper_image all[] = {one, of_three, deep};
    float *codes = embed(model, all, 3, 1);
    assert_memory_equal(codes, codes + 40, 40 * sizeof *codes);
    assert_memory_equal(codes, codes + 80, 40 * sizeof *codes);
    free(codes), taper_model_free(model);
    formats_image_free(&one), formats_image_free(&of_three), formats_image_free(&deep);
}

static void assert_refused(const taper_model *model, taper_image wrong, const char *words) {
    taper_image right = dct_picture(SIDE, SIDE, 1, 1);
    const taper_image both[] = {right, wrong};
    float codes[2 * 64];
    taper_error e = {0};
    assert_int_equal(embed_once(model, both, 2, 1, codes, &e), TAPER_ERR_ARG);
    assert_string_equal(e.text, words);
    formats_image_free(&right), formats_image_free(&wrong);
}

/* An embedding model scales: a picture of doubled pixels has the codes of the picture. */
static void other_sizes_are_scaled(void **state) {
    (void)state;
    formats_buffer file = formats_buffer_make(FORMATS_MOST_BYTES);
    const tiny_shape shape = {
        .window = {6, 5, 1, NULL}, .units = 7, .depth = 2, .hidden = CODEC_RELU};
    taper_model *model = tiny_embedding_make(shape, 3, &file);
    const taper_model_info info = info_of_model(model);
    taper_image small = picture_noise(info.window_width, info.window_height, 1, 8, 4),
                large = picture_noise(2 * info.window_width, 2 * info.window_height, 1, 8, 5);
    for (uint32_t y = 0; y < large.height; y++)
        for (uint32_t x = 0; x < large.width; x++)
            ((uint8_t *)large.pixels)[y * large.width + x] =
                ((uint8_t *)small.pixels)[y / 2 * small.width + x / 2];
    taper_image deep = picture_noise(info.window_width, info.window_height, 1, 16, 6);
    for (uint32_t i = 0; i < small.width * small.height; i++) /* rounds to the same 8 bits */
        ((uint16_t *)deep.pixels)[i] = (uint16_t)(257 * ((uint8_t *)small.pixels)[i] +
                                                  (((uint8_t *)small.pixels)[i] ? -100 : 100));
    const taper_image all[] = {small, large, deep};
    float *codes = embed(model, all, 3, 1);
    assert_memory_equal(codes, codes + info.units, info.units * sizeof *codes);
    assert_memory_equal(codes, codes + 2 * info.units, info.units * sizeof *codes);
    formats_image_free(&deep);
    free(codes), taper_model_free(model), formats_buffer_free(&file);
    formats_image_free(&small), formats_image_free(&large);
}

/* A model of gradients has the codes that its network makes of them; images of any size and depth
 * are scaled first. */
static void codes_of_gradients_are_the_networks(void **state) {
    (void)state;
    formats_buffer file = formats_buffer_make(FORMATS_MOST_BYTES);
    const tiny_shape shape = {
        .window = {12, 10, 3, NULL}, .units = 7, .depth = 2, .hidden = CODEC_RELU};
    const codec_cells cells = {4, 3};
    taper_model *model = tiny_embedding_written(tiny_gradients_unwritten(shape, cells, 4), &file);
    const taper_image image[] = {picture_noise(12, 10, 3, 8, 1), picture_noise(31, 45, 3, 16, 2),
                                 picture_noise(5, 5, 1, 8, 3)};
    float *codes = embed(model, image, 3, 2), want[7], pixels[360], inputs[12 * 34];
    uint8_t samples[360], values[12 * 34];
    codec_backend be;
    codec_backend_cpu(&be);
    for (int i = 0; i < 3; i++) {
        taper_image window;
        assert_int_equal(taper_image_scale(&image[i], 12, 10, &window, NULL), TAPER_OK);
        codec_windows_read(shape.window, &window, pixels);
        for (int k = 0; k < 360; k++) samples[k] = (uint8_t)pixels[k];
        assert_int_equal(codec_gradients(shape.window, cells, 1, samples, values), TAPER_OK);
        for (int k = 0; k < 12 * 34; k++) inputs[k] = values[k];
        assert_int_equal(codec_network_encode(&model->network, &be, inputs, 1, want), TAPER_OK);
        assert_memory_equal(codes + 7 * i, want, sizeof want);
        formats_image_free(&window);
    }
    for (int i = 0; i < 3; i++) formats_image_free(&((taper_image *)image)[i]);
    free(codes), taper_model_free(model), formats_buffer_free(&file);
}

static void what_has_no_code_is_named(void **state) {
    (void)state;
    taper_model *model = linear_model(grey, 10);
    assert_refused(model, dct_picture(SIDE, SIDE + 1, 1, 1),
                   "image 1: image is 8 x 9 pixels but a code of the model is of 8 x 8");
    assert_refused(model, dct_picture(SIDE, SIDE, 3, 1),
                   "image 1: image is in colour but the model is for grey images; use a colour "
                   "model, or make it grey");
    assert_refused(model, picture_noise(SIDE, SIDE, 2, 8, 1),
                   "image 1: image has an alpha channel, which codes do not represent");
    taper_image image = dct_picture(SIDE, SIDE, 1, 1);
    float codes[10];
    taper_error e = {0};
    assert_int_equal(embed_once(model, NULL, 1, 1, codes, &e), TAPER_ERR_ARG);
    assert_int_equal(embed_once(model, &image, 1, 1, NULL, &e), TAPER_ERR_ARG);
    assert_int_equal(embed_once(model, NULL, 0, 1, NULL, &e), TAPER_OK);
    formats_image_free(&image), taper_model_free(model);
}

/* Rows that have no inverse are no model's, but may be a file's. */
static void rows_without_analysis_are_refused(void **state) {
    (void)state;
    taper_model *model = linear_model(grey, 10);
    taper_image image = dct_picture(SIDE, SIDE, 1, 1);
    float codes[10];
    taper_error e = {0};
    for (size_t i = 0; i < SIDE * SIDE; i++) model->network.synthesis[i] = 9;
    assert_int_equal(embed_once(model, &image, 1, 1, codes, &e), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(e.text, "it has no codes; train it again"));
    formats_image_free(&image), taper_model_free(model);
}

/* Calls of one embedder do not influence each other; margins are above 0 where bits are 1. */
static void an_embedder_is_used_many_times(void **state) {
    (void)state;
    taper_image *image = pictures(3);
    for (int kind = 0; kind < 3; kind++) {
        taper_model *model = kind == 2 ? embedding_model()
                             : kind    ? binary_model(0)
                                       : linear_model(colour, 40);
        const size_t units = model->info.units;
        float *all = embed(model, image, IMAGES, 1), *code = malloc(units * sizeof *code);
        taper_embedder *e;
        assert_int_equal(taper_embedder_new(&e, model, 2, NULL), TAPER_OK);
        for (size_t i = 0; i < IMAGES; i++) {
            assert_int_equal(taper_embedder_codes(e, &image[i], 1, code, NULL), TAPER_OK);
            assert_memory_equal(code, all + i * units, units * sizeof *code);
            assert_int_equal(taper_embedder_margins(e, &image[i], 1, code, NULL), TAPER_OK);
            for (size_t u = 0; u < units; u++)
                assert_true(kind == 1 ? (code[u] > 0) == (all[i * units + u] > 0)
                                      : code[u] == all[i * units + u]);
        }
        taper_embedder_free(e);
        free(all), free(code), taper_model_free(model);
    }
    free_pictures(image);
}

/* Without pixels, and before an embedder is made. */
static void a_model_tells_which_images_it_takes(void **state) {
    (void)state;
    taper_model *linear = linear_model(grey, 10), *embedding = embedding_model();
    const taper_image right = {SIDE, SIDE, 1, 16, NULL}, large = {SIDE, 99, 1, 8, NULL},
                      coloured = {SIDE, SIDE, 3, 8, NULL}, none = {0, SIDE, 1, 8, NULL},
                      alpha = {SIDE, SIDE, 4, 8, NULL};
    assert_int_equal(taper_model_check_image(linear, &right, NULL), TAPER_OK);
    assert_int_equal(taper_model_check_image(linear, &large, NULL), TAPER_ERR_UNSUPPORTED);
    assert_int_equal(taper_model_check_image(linear, &coloured, NULL), TAPER_ERR_UNSUPPORTED);
    assert_int_equal(taper_model_check_image(linear, &none, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_model_check_image(embedding, &large, NULL), TAPER_OK);
    assert_int_equal(taper_model_check_image(embedding, &coloured, NULL), TAPER_OK);
    assert_int_equal(taper_model_check_image(embedding, &alpha, NULL), TAPER_ERR_UNSUPPORTED);
    taper_model_free(linear), taper_model_free(embedding);
}

/* Weights that are legal one by one, and overflow together. */
static void codes_that_overflow_are_named(void **state) {
    (void)state;
    taper_model *m = embedding_model();
    taper_image *image = pictures(3);
    float codes[3 * 30];
    taper_error e = {0};
    const codec_layer *last = &m->network.encoder.layer[m->network.encoder.depth - 1];
    for (uint32_t i = 0; i < last->outputs * last->inputs; i++) last->weight[i] = 3e38f;
    assert_int_equal(embed_once(m, image, 3, 1, codes, &e), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(e.text, "image 0"));
    free_pictures(image);
    taper_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_codes_are_of_least_error),
        cmocka_unit_test(models_without_a_decoder_have_codes),
        cmocka_unit_test(threads_and_neighbours_change_nothing),
        cmocka_unit_test(binary_codes_are_the_containers),
        cmocka_unit_test(grey_and_deep_images_have_codes),
        cmocka_unit_test(other_sizes_are_scaled),
        cmocka_unit_test(codes_of_gradients_are_the_networks),
        cmocka_unit_test(what_has_no_code_is_named),
        cmocka_unit_test(rows_without_analysis_are_refused),
        cmocka_unit_test(an_embedder_is_used_many_times),
        cmocka_unit_test(a_model_tells_which_images_it_takes),
        cmocka_unit_test(codes_that_overflow_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
