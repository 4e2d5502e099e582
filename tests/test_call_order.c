/* test_call_order.c -- every order of calls that codec/taper.h demands is enforced: a call out of
 * order is TAPER_ERR_ARG (or _TRUNCATED: before the front matter is there), says why, changes
 * nothing, and the handle goes on.
 *
 *   encoder   add          not after set_search_codes, not after finish
 *             set_classes  once, before finish
 *             set_search_codes   once, after the last add, before finish
 *             finish       after an add, once
 *             quality      after finish, with options.measure
 *   decoder   what the front matter tells, render, codes    after the front matter
 *             push, or plan and supply    the first decides; neither after open
 *             push         not behind the container's end
 * What cannot be told is not tested: a handle that is used after it was freed, a model that is
 * freed before what uses it, a spool that is closed too early. */
#include "cmocka_all.h"
#include "tests/open_decoder.h"
#include "codec/taper.h"
#include "dct_model.h"

enum { N = 3, BITS = 70, WORDS = 2 };

typedef struct fixture {
    taper_model *model;
    taper_image image[N];
    uint64_t code[N * WORDS];
} fixture;

static int make(void **state) {
    static fixture f;
    formats_buffer unused = formats_buffer_make(1 << 24);
    f = (fixture){.model = dct_model_make((codec_window){8, 8, 3, NULL}, 0, 2, &unused)};
    for (size_t i = 0; i < N; i++) f.image[i] = dct_picture(13, 9, 3, i);
    for (size_t i = 0; i < N; i++) f.code[i * WORDS] = 0x123456789abcdef * (i + 1);
    formats_buffer_free(&unused);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    for (int i = 0; i < N; i++) formats_image_free(&f->image[i]);
    taper_model_free(f->model);
    return 0;
}

static taper_search_codes codes_of(const fixture *f, size_t n) {
    return (taper_search_codes){
        .size = sizeof(taper_search_codes), .model_id = 1, .bits = BITS, .n = n, .codes = f->code};
}

/* An encoder with n images. */
static taper_encoder *encoder_of(const fixture *f, size_t n, const taper_encode_options *options) {
    taper_encoder *encoder;
    assert_int_equal(taper_encoder_new(&encoder, f->model, options, NULL), TAPER_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(taper_encoder_add(encoder, &f->image[i], NULL, -1, NULL), TAPER_OK);
    return encoder;
}

static void refuses(taper_status status, const taper_error *error, const char *word) {
    assert_int_equal(status, TAPER_ERR_ARG);
    assert_int_equal(error->status, TAPER_ERR_ARG);
    assert_non_null(strstr(error->text, word));
}

static formats_buffer finish(taper_encoder *encoder) {
    formats_buffer out = formats_buffer_make(1 << 24);
    const taper_sink sink = dct_sink(&out);
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    return out;
}

static formats_buffer encode(const fixture *f) {
    taper_encoder *encoder = encoder_of(f, N, NULL);
    const taper_search_codes codes = codes_of(f, N);
    assert_int_equal(taper_encoder_set_search_codes(encoder, &codes, NULL), TAPER_OK);
    formats_buffer file = finish(encoder);
    taper_encoder_free(encoder);
    return file;
}

static void no_image_comes_after_the_codes_of_all(void **state) {
    const fixture *f = *state;
    taper_encoder *encoder = encoder_of(f, N - 1, NULL);
    taper_search_codes codes = codes_of(f, N);
    taper_error error;
    refuses(taper_encoder_set_search_codes(encoder, &codes, &error), &error, "for 2 images");
    codes.n = N - 1;
    assert_int_equal(taper_encoder_set_search_codes(encoder, &codes, NULL), TAPER_OK);
    refuses(taper_encoder_add(encoder, &f->image[0], NULL, -1, &error), &error, "comes before");
    refuses(taper_encoder_set_search_codes(encoder, &codes, &error), &error, "once");
    formats_buffer file = finish(encoder);
    assert_int_equal(dct_info(&file, f->model).images, N - 1);
    taper_encoder_free(encoder);
    formats_buffer_free(&file);
}

static void classes_are_named_once(void **state) {
    static const char *const names[] = {"a", "b"};
    const fixture *f = *state;
    for (size_t n = 0; n <= 2; n += 2) {
        taper_encoder *encoder = encoder_of(f, 1, NULL);
        taper_error error;
        assert_int_equal(taper_encoder_set_classes(encoder, names, n, NULL), TAPER_OK);
        refuses(taper_encoder_set_classes(encoder, names, 2, &error), &error, "twice");
        taper_encoder_free(encoder);
    }
}

static void finish_comes_once_and_last(void **state) {
    static const char *const names[] = {"a"};
    const fixture *f = *state;
    const taper_search_codes codes = codes_of(f, N);
    taper_encoder *encoder = encoder_of(f, 0, NULL);
    formats_buffer out = formats_buffer_make(1 << 24);
    const taper_sink sink = dct_sink(&out);
    taper_error error;
    refuses(taper_encoder_finish(encoder, 0, &sink, &error), &error, "no image");
    for (size_t i = 0; i < N; i++) /* it goes on */
        assert_int_equal(taper_encoder_add(encoder, &f->image[i], NULL, -1, NULL), TAPER_OK);
    formats_buffer file = finish(encoder);
    refuses(taper_encoder_add(encoder, &f->image[0], NULL, -1, &error), &error, "finish");
    refuses(taper_encoder_set_classes(encoder, names, 1, &error), &error, "finish");
    refuses(taper_encoder_set_search_codes(encoder, &codes, &error), &error, "finish");
    refuses(taper_encoder_finish(encoder, 0, &sink, &error), &error, "before");
    assert_int_equal(out.size, 0);
    taper_encoder_free(encoder);
    formats_buffer_free(&file), formats_buffer_free(&out);
}

static void quality_is_known_when_it_was_measured(void **state) {
    const fixture *f = *state;
    for (int measure = 0; measure <= 1; measure++) {
        const taper_encode_options options = {.size = sizeof options, .measure = measure};
        taper_encoder *encoder = encoder_of(f, N, &options);
        taper_encode_quality quality = {.size = sizeof quality};
        assert_int_equal(taper_encoder_quality(encoder, &quality, NULL), TAPER_ERR_ARG);
        formats_buffer file = finish(encoder);
        assert_int_equal(taper_encoder_quality(encoder, &quality, NULL),
                         measure ? TAPER_OK : TAPER_ERR_ARG);
        taper_encoder_free(encoder);
        formats_buffer_free(&file);
    }
}

/* All that needs the front matter, of a decoder that has it or not. */
static void ask_for_everything(taper_decoder *d, taper_status expected) {
    taper_container_info info = {.size = sizeof info};
    taper_image_info image = {.size = sizeof image};
    uint64_t first, count, cut, code[WORDS];
    uint32_t passes;
    uint8_t pixels[13 * 9 * 3];
    float values[4 * 192];
    taper_image out = {.pixels = pixels};
    taper_model *model;
    /* there is no container before */
    const taper_container *c = taper_decoder_container(d);
    const taper_status of_container = expected ? TAPER_ERR_ARG : TAPER_OK;
    assert_true(expected ? !c : c != NULL);
    assert_int_equal(taper_container_get_info(c, &info, NULL), of_container);
    assert_int_equal(taper_container_get_image(c, 0, &image, NULL), of_container);
    assert_int_equal(taper_container_group(c, 0, &first, &count, NULL), of_container);
    assert_int_equal(taper_container_layer(c, 0, 0, &cut, &passes, NULL), of_container);
    assert_int_equal(taper_decoder_render(d, 0, &out, NULL, NULL), expected);
    assert_int_equal(taper_decoder_codes(d, 0, 1, UINT32_MAX, values, NULL, NULL, NULL), expected);
    assert_int_equal(taper_container_search_code(c, 0, code, NULL), of_container);
    if (expected) assert_int_equal(taper_container_search_model(c, &model, NULL), of_container);
    assert_int_equal(taper_container_image_at(c, 2), 2);
    assert_null(taper_container_class_name(c, 0));
}

static void questions_wait_for_the_front_matter(void **state) {
    const fixture *f = *state;
    formats_buffer file = encode(f);
    const size_t front = (size_t)dct_info(&file, f->model).front_bytes;
    for (int supplied = 0; supplied <= 1; supplied++) {
        taper_decoder *d;
        assert_int_equal(stream_decoder(&d, f->model, NULL, NULL), TAPER_OK);
        ask_for_everything(d, TAPER_ERR_TRUNCATED);
        for (size_t at = 0; at < front; at += front - 1) { /* all but one byte, and that */
            const size_t n = at ? 1 : front - 1;
            if (at) ask_for_everything(d, TAPER_ERR_TRUNCATED);
            assert_int_equal(supplied ? taper_decoder_supply(d, at, file.data + at, n, NULL)
                                      : taper_decoder_push(d, file.data + at, n, NULL),
                             TAPER_OK);
        }
        ask_for_everything(d, TAPER_OK);
        close_decoder(d);
    }
    formats_buffer_free(&file);
}

static void a_decoder_is_fed_in_one_way(void **state) {
    const fixture *f = *state;
    formats_buffer file = encode(f);
    formats_memory memory = {file.data, file.size};
    const taper_source source = formats_memory_source(&memory);
    for (int way = 0; way < 4; way++) { /* pushed, supplied, planned, opened */
        taper_decoder *d;
        taper_range range;
        taper_error error;
        size_t count;
        if (way == 3)
            assert_int_equal(open_decoder(&d, &source, f->model, NULL, NULL), TAPER_OK);
        else
            assert_int_equal(stream_decoder(&d, f->model, NULL, NULL), TAPER_OK);
        if (way == 0) assert_int_equal(taper_decoder_push(d, file.data, 9, NULL), TAPER_OK);
        if (way == 1) assert_int_equal(taper_decoder_supply(d, 0, file.data, 9, NULL), TAPER_OK);
        if (way == 2)
            assert_int_equal(taper_decoder_plan(d, 0, 0, &range, 1, &count, NULL), TAPER_OK);
        if (way) refuses(taper_decoder_push(d, file.data, 9, &error), &error, "cannot be pushed");
        if (way == 0 || way == 3) {
            refuses(taper_decoder_supply(d, 0, file.data, 9, &error), &error, "cannot be supplied");
            refuses(taper_decoder_plan(d, 0, 0, &range, 1, &count, &error), &error,
                    "cannot be supplied");
        }
        if (way == 0) /* it goes on, to the end and not beyond it */
            assert_int_equal(taper_decoder_push(d, file.data + 9, file.size - 9, NULL), TAPER_OK);
        if (way == 0) assert_int_equal(taper_decoder_push(d, "x", 1, NULL), TAPER_ERR_CORRUPT);
        if (way == 0) assert_int_equal(taper_decoder_push(d, "", 0, NULL), TAPER_ERR_CORRUPT);
        close_decoder(d);
    }
    formats_buffer_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_image_comes_after_the_codes_of_all),
        cmocka_unit_test(classes_are_named_once),
        cmocka_unit_test(finish_comes_once_and_last),
        cmocka_unit_test(quality_is_known_when_it_was_measured),
        cmocka_unit_test(questions_wait_for_the_front_matter),
        cmocka_unit_test(a_decoder_is_fed_in_one_way),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
