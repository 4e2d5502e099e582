/* test_scale_passes.c -- taper_decoder_set_scale: how many passes show at a scale; the same pixels
 * from all sources of bytes; and how far they are from those of all passes. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/decoder/decoder.h"
#include "formats/container.h"
#include "model_zoo.h"
#include <math.h>

static const uint32_t scales[] = {2, 4, 8, 16};
enum { SCALES = sizeof scales / sizeof *scales };

/* --- the number of passes ------------------------------------------------------------------- */

static uint32_t passes_of(const taper_model *m, uint32_t scale) {
    codec_small_basis b;
    uint32_t passes = 0;
    assert_int_equal(codec_model_make_small(m, scale, &b), TAPER_OK);
    assert_int_equal(codec_model_scale_passes(m, &b, &passes), TAPER_OK);
    codec_small_basis_free(&b);
    return passes;
}

/* They are part of what a container looks like on every machine. */
static void passes_of_the_built_in_models(void **unused) {
    (void)unused;
    static const uint32_t photo[] = {5364, 3507, 2044, 963}, tiny[] = {1328, 903, 547};
    taper_model *m[2] = {zoo_builtin("photo"), zoo_builtin("tiny")};
    for (int k = 0; k < SCALES; k++) {
        assert_int_equal(passes_of(m[0], scales[k]), photo[k]);
        if (k < 3) assert_int_equal(passes_of(m[1], scales[k]), tiny[k]);
    }
    assert_false(codec_model_has_small(m[1], 16)); /* its windows have 8 x 8 pixels */
    taper_model_free(m[0]), taper_model_free(m[1]);
}

/* --- all sources of bytes ------------------------------------------------------------------- */

typedef struct rendered {
    taper_status status;
    taper_completeness done;
    uint8_t pixels[4096];
} rendered;

static rendered render(taper_decoder *d, uint64_t i, uint32_t scale) {
    rendered r = {.status = TAPER_OK};
    taper_image out = {.pixels = r.pixels};
    r.status = taper_decoder_render_scaled(d, i, scale, &out, &r.done, NULL);
    return r;
}

static void assert_same(const rendered *a, const rendered *b) {
    assert_int_equal(a->status, b->status);
    assert_memory_equal(a->pixels, b->pixels, sizeof a->pixels);
    assert_int_equal(a->done.passes, b->done.passes);
    assert_int_equal(a->done.complete, b->done.complete);
}

static taper_decoder *of_source(const taper_model *m, formats_memory *memory, taper_source *source,
                                uint32_t scale) {
    taper_decoder *d = zoo_open(m, memory, source);
    assert_int_equal(taper_decoder_set_scale(d, scale, NULL), TAPER_OK);
    return d;
}

static taper_decoder *of_stream(const taper_model *m, uint32_t scale) {
    taper_decoder *d = zoo_new(m);
    assert_int_equal(taper_decoder_set_scale(d, scale, NULL), TAPER_OK);
    return d;
}

/* In pieces, each rendered; the front matter alone is not. */
static void push(taper_decoder *d, const uint8_t *bytes, size_t n) {
    for (size_t at = 0; at < n; at += 397) {
        const size_t piece = n - at < 397 ? n - at : 397;
        assert_int_equal(taper_decoder_push(d, bytes + at, piece, NULL), TAPER_OK);
        if (taper_decoder_container(d)) (void)render(d, at % ZOO_IMAGES, 2);
    }
}

static void supply(taper_decoder *d, const uint8_t *bytes, size_t n) {
    for (size_t at = 0; at < n; at += 643) {
        const size_t piece = n - at < 643 ? n - at : 643;
        assert_int_equal(taper_decoder_supply(d, at, bytes + at, piece, NULL), TAPER_OK);
        if (taper_decoder_container(d)) (void)render(d, at % ZOO_IMAGES, 2);
    }
}

/* The first `size` bytes, for this scale. */
static void check_sources(const taper_model *m, const formats_buffer *file, size_t size,
                          uint32_t scale) {
    formats_memory memory = {file->data, size};
    taper_source source, again;
    taper_decoder *d[4] = {of_source(m, &memory, &source, scale), of_stream(m, scale),
                           of_stream(m, scale), of_source(m, &memory, &again, 1)};
    push(d[1], file->data, size);
    supply(d[2], file->data, size);
    size_t missing;
    (void)taper_decoder_plan(d[2], 0, size, NULL, 0, &missing, NULL); /* sets the cut */
    for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
        const rendered is = render(d[0], i, scale);
        for (int k = 1; k < 3; k++) {
            const rendered of = render(d[k], i, scale);
            assert_same(&is, &of);
        }
        (void)render(d[3], i, scale); /* of all passes; then of fewer, and back */
        const rendered all = render(d[3], i, 2);
        assert_int_equal(taper_decoder_set_scale(d[3], scale, NULL), TAPER_OK);
        const rendered fewer = render(d[3], i, scale);
        assert_same(&is, &fewer);
        assert_int_equal(taper_decoder_set_scale(d[3], 1, NULL), TAPER_OK);
        const rendered back = render(d[3], i, 2);
        assert_same(&all, &back);
    }
    for (int k = 0; k < 4; k++) close_decoder(d[k]);
}

static void all_sources_give_the_same(void **unused) {
    (void)unused;
    static model_zoo zoo;
    zoo_make(&zoo);
    for (int m = 0; m < ZOO_MODELS; m++)
        for (int k = 0; k < ZOO_FILES; k++) {
            const formats_buffer *file = &zoo.file[m][k];
            const size_t front = (size_t)dct_info(file, zoo.model[m]).front_bytes;
            for (size_t part = 2; part <= 4; part += 2)
                check_sources(zoo.model[m], file, front + (file->size - front) * part * part / 16,
                              scales[(part + (size_t)k) % SCALES]);
        }
    zoo_free(&zoo);
}

/* Decoding, rendering at full size, and with taper_decode_options.passes. */
static void every_function_has_the_passes(void **unused) {
    (void)unused;
    taper_model *m = zoo_builtin("photo");
    const taper_image picture = picture_noise(300, 200, 3, 8, 5);
    formats_buffer file = dct_encode(m, &picture, 1, NULL, 0);
    formats_memory memory = {file.data, file.size};
    taper_source source;
    taper_decoder *d = of_source(m, &memory, &source, 8);
    const uint32_t passes = passes_of(m, 8);
    static uint8_t pixels[2][300 * 200 * 3];
    taper_completeness done = {0};
    taper_image out = {.pixels = pixels[0]};
    assert_int_equal(taper_decoder_decode(d, 0, &done, NULL), TAPER_OK);
    assert_int_equal(done.passes, passes);
    assert_true(done.complete && done.passes_in_file > passes);
    assert_int_equal(taper_decoder_render(d, 0, &out, &done, NULL), TAPER_OK);
    assert_int_equal(done.passes, passes);
    const taper_decode_options options = {.size = sizeof options, .passes = passes};
    taper_decoder *other;
    assert_int_equal(taper_decoder_new(&other, d->container, &options, NULL), TAPER_OK);
    out.pixels = pixels[1];
    assert_int_equal(taper_decoder_render(other, 0, &out, &done, NULL), TAPER_OK);
    assert_memory_equal(pixels[0], pixels[1], sizeof pixels[0]);
    assert_int_equal(taper_decoder_set_scale(other, 2, NULL), TAPER_OK); /* the fewer count */
    assert_int_equal(taper_decoder_decode(other, 0, &done, NULL), TAPER_OK);
    assert_int_equal(done.passes, passes);
    taper_decoder_free(other);
    close_decoder(d);
    formats_buffer_free(&file);
    free(picture.pixels);
    taper_model_free(m);
}

/* --- plans ---------------------------------------------------------------------------------- */

/* What is planned for a scale is enough for it, and less than for the whole. */
static void plans_list_what_a_scale_needs(void **unused) {
    (void)unused;
    taper_model *m = zoo_builtin("photo");
    taper_image picture[3];
    for (uint64_t i = 0; i < 3; i++) picture[i] = picture_noise(96, 80, 3 + (i == 2), 8, i + 3);
    const taper_encode_options layout = {.layout = TAPER_LAYOUT_SET};
    formats_buffer file = dct_encode(m, picture, 3, &layout, 0);
    formats_memory memory = {file.data, file.size};
    taper_source source;
    uint64_t before = UINT64_MAX, all = 0;
    for (int k = -1; k < SCALES; k++) {
        const uint32_t scale = k < 0 ? 1 : scales[k];
        taper_decoder *d = of_stream(m, scale), *whole = of_source(m, &memory, &source, scale);
        uint64_t data;
        assert_int_equal(zoo_supply_planned(d, &file, 2, UINT64_MAX, 8, &data), TAPER_OK);
        assert_true(data <= before);
        before = data;
        if (k < 0) all = data;
        static uint8_t pixels[2][96 * 80 * 4];
        for (int w = 0; w < 2; w++) {
            taper_image out = {.pixels = pixels[w]};
            assert_int_equal(taper_decoder_render_scaled(w ? whole : d, 2, scale, &out, NULL, NULL),
                             TAPER_OK);
        }
        assert_memory_equal(pixels[0], pixels[1], sizeof pixels[0]);
        close_decoder(d), close_decoder(whole);
    }
    assert_true(before < all / 2);
    for (int i = 0; i < 3; i++) free(picture[i].pixels);
    formats_buffer_free(&file);
    taper_model_free(m);
}

/* --- what is lost --------------------------------------------------------------------------- */

/* Black strokes on white, as of letters. */
static taper_image strokes(uint32_t width, uint32_t height, unsigned channels) {
    taper_image image = picture_noise(width, height, channels, 8, 1);
    uint64_t state = 9;
    memset(image.pixels, 255, formats_image_bytes(&image));
    for (int n = 0; n < 400; n++) {
        uint32_t x = (uint32_t)(picture_random(&state) % width),
                 y = (uint32_t)(picture_random(&state) % height) / 10 * 10;
        const int is_upright = picture_random(&state) & 1;
        for (int k = 0; k < 8 && x < width && y < height; k++, x += !is_upright, y += is_upright)
            memset((uint8_t *)image.pixels + ((size_t)y * width + x) * channels, 0,
                   channels - !(channels & 1));
    }
    return image;
}

static double psnr(const uint8_t *a, const uint8_t *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += pow((double)a[i] - b[i], 2);
    return 10 * log10(255 * 255 / (sum / (double)n + 1e-9));
}

static void little_is_lost(void **unused) {
    (void)unused;
    enum { W = 200, H = 160, N = 6 };
    const double least[N] = {39, 39, 39, 39, 39, 30}; /* noise has all bits that there are */
    taper_image image[N] = {dct_picture(W, H, 3, 4),    dct_picture(W, H, 1, 5),
                            picture_scene(W, H, 3, 40), strokes(W, H, 3),
                            strokes(W, H, 4),           picture_noise(W, H, 3, 8, 7)};
    static const char *const model[] = {"photo", "tiny"};
    for (int k = 0; k < 2; k++) {
        taper_model *m = zoo_builtin(model[k]);
        const taper_encode_options lossy = {.drawings = TAPER_DRAWINGS_LOSSY,
                                            .layout = TAPER_LAYOUT_IMAGE};
        formats_buffer file = dct_encode(m, image, N, &lossy, 0);
        formats_memory memory = {file.data, file.size};
        for (uint64_t i = 0; i < N; i++)
            for (int s = 0; s < SCALES; s++) {
                static uint8_t pixels[2][W * H * 4];
                taper_image out = {0};
                for (int w = 0; w < 2; w++) {
                    taper_source source;
                    taper_decoder *d = of_source(m, &memory, &source, w ? scales[s] : 1);
                    out.pixels = pixels[w];
                    assert_int_equal(taper_decoder_render_scaled(d, i, scales[s], &out, NULL, NULL),
                                     TAPER_OK);
                    close_decoder(d);
                }
                const double is =
                    psnr(pixels[0], pixels[1], (size_t)out.width * out.height * out.channels);
                if (is < least[i])
                    print_message("%s, image %d at 1/%u: %.1f dB\n", model[k], (int)i, scales[s],
                                  is);
                assert_true(is >= least[i]);
            }
        formats_buffer_free(&file);
        taper_model_free(m);
    }
    for (int i = 0; i < N; i++) free(image[i].pixels);
}

/* --- what is refused ------------------------------------------------------------------------ */

static void wrong_scales_are_refused(void **unused) {
    (void)unused;
    static const uint32_t bad[] = {0, 3, 5, 32, UINT32_MAX};
    static model_zoo zoo;
    zoo_make(&zoo);
    const formats_buffer *file = &zoo.file[2][1];
    taper_decoder *d = zoo_new(zoo.model[2]);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(taper_decoder_set_scale(d, bad[k], NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_set_scale(NULL, 2, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_set_scale(d, 4, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_push(d, file->data, file->size, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_set_scale(d, 2, NULL), TAPER_ERR_ARG);
    const rendered r = render(d, 0, 4);
    assert_int_equal(r.status, TAPER_OK);
    close_decoder(d);
    zoo_free(&zoo);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_of_the_built_in_models),
                                       cmocka_unit_test(all_sources_give_the_same),
                                       cmocka_unit_test(every_function_has_the_passes),
                                       cmocka_unit_test(plans_list_what_a_scale_needs),
                                       cmocka_unit_test(little_is_lost),
                                       cmocka_unit_test(wrong_scales_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
