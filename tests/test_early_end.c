/* test_early_end.c -- coding that ends where no more bytes are kept: containers are as if all
 * passes were coded; sets of one group reach their target. */
#include "cmocka_all.h"
#include "dct_model.h"
#include "formats/container.h"
#include "formats/file.h"

enum { WIDTH = 150, HEIGHT = 110 };

typedef struct fixture {
    taper_model *model;
    taper_image image, plain;
    formats_buffer whole, plain_whole;
} fixture;

/* A picture with a tenth of the contrast. */
static taper_image plain_picture(void) {
    taper_image image = dct_picture(WIDTH, HEIGHT, 3, 5);
    uint8_t *sample = image.pixels;
    for (size_t i = 0; i < (size_t)3 * WIDTH * HEIGHT; i++)
        sample[i] = (uint8_t)(100 + sample[i] / 10);
    return image;
}

static int make(void **state) {
    static fixture f;
    formats_buffer file = formats_buffer_make(1 << 24);
    f = (fixture){.model = dct_model_make((codec_window){8, 8, 3, NULL}, 0, 2, &file),
                  .image = picture_noise(WIDTH, HEIGHT, 3, 8, 4),
                  .plain = plain_picture()};
    f.whole = dct_encode(f.model, &f.image, 1, NULL, 1);
    f.plain_whole = dct_encode(f.model, &f.plain, 1, NULL, 1);
    formats_buffer_free(&file);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    taper_model_free(f->model);
    formats_image_free(&f->image), formats_image_free(&f->plain);
    formats_buffer_free(&f->whole), formats_buffer_free(&f->plain_whole);
    return 0;
}

static formats_buffer truncated(const formats_buffer *file, uint64_t most) {
    formats_buffer out = formats_buffer_make(SIZE_MAX / 4);
    formats_memory memory = {file->data, file->size};
    const taper_source source = formats_memory_source(&memory);
    const taper_sink sink = dct_sink(&out);
    assert_int_equal(taper_truncate(&source, most, &sink, NULL, NULL), TAPER_OK);
    return out;
}

static void assert_equal_files(const formats_buffer *a, const formats_buffer *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static uint64_t data_of(const formats_buffer *file) {
    formats_front front;
    assert_int_equal(formats_front_read(file->data, file->size, NULL, &front, NULL), TAPER_OK);
    const uint64_t data = front.chunk_at[(uint64_t)front.layers * front.groups];
    formats_front_free(&front);
    return data;
}

/* As dct_encode, with a limit of the container. */
static formats_buffer encoded_within(const taper_model *model, const taper_image *image, size_t n,
                                     const taper_encode_options *options, uint64_t most) {
    formats_buffer out = formats_buffer_make(SIZE_MAX / 4);
    const taper_sink sink = dct_sink(&out);
    taper_encode_options own = *options;
    taper_encoder *encoder;
    own.size = sizeof own;
    assert_int_equal(taper_encoder_new(&encoder, model, &own, NULL), TAPER_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(taper_encoder_add(encoder, &image[i], NULL, -1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(encoder, most, &sink, NULL), TAPER_OK);
    taper_encoder_free(encoder);
    return out;
}

/* With each limit from the front matter to more than there is, the container is a truncated one:
 * of sets of one group, of several and of small ones, in each layout and with each allocation. */
static void a_limit_is_as_truncating(void **state) {
    const fixture *f = *state;
    const taper_image small = dct_picture(40, 30, 3, 7), two[2] = {f->image, f->plain};
    const struct {
        taper_encode_options options;
        size_t n;
        uint64_t step;
    } set[] = {{{.layout = TAPER_LAYOUT_SET}, 1, 331},
               {{.measure = 1}, 1, 2531},
               {{.group_images = 1}, 2, 3001},
               {{.layout = TAPER_LAYOUT_IMAGE}, 2, 3001},
               {{.layout = TAPER_LAYOUT_GALLERY}, 2, 3001},
               {{.allocation = TAPER_ALLOCATION_MEAN}, 2, 3001},
               {{.allocation = TAPER_ALLOCATION_EQUAL, .threads = 2}, 2, 3001},
               {{.target_bytes_per_megapixel = 900000}, 2, 2001},
               {{.layout = 0}, 0, 401}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        const taper_image *image = set[i].n ? two : &small;
        const size_t n = set[i].n ? set[i].n : 1;
        formats_buffer whole = encoded_within(f->model, image, n, &set[i].options, 0);
        for (uint64_t most = 800; most < whole.size + 2 * set[i].step; most += set[i].step) {
            formats_buffer got = encoded_within(f->model, image, n, &set[i].options, most);
            formats_buffer want = truncated(&whole, most);
            assert_equal_files(&got, &want);
            formats_buffer_free(&got), formats_buffer_free(&want);
        }
        formats_buffer_free(&whole);
    }
    taper_image copy = small;
    formats_image_free(&copy);
}

/* As far as the front matter alone; below that there is no container. */
static void a_limit_below_the_front_matter_is_refused(void **state) {
    const fixture *f = *state;
    formats_buffer out = formats_buffer_make(1 << 20);
    const taper_sink sink = dct_sink(&out);
    taper_encoder *encoder;
    taper_error error = {0};
    assert_int_equal(taper_encoder_new(&encoder, f->model, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add(encoder, &f->image, NULL, -1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(encoder, 20, &sink, &error), TAPER_ERR_LIMIT);
    assert_non_null(strstr(error.text, "front matter"));
    assert_int_equal(out.size, 0);
    taper_encoder_free(encoder);
    formats_buffer_free(&out);
}

/* An encoder that planned too few passes for its limit says so. */
static void a_target_below_the_limit_is_told(void **state) {
    const fixture *f = *state;
    uint64_t most = 1 << 30;
    for (int i = 0; i < 3; i++) { /* no target; a target, and room left; a target, and no room */
        const taper_encode_options options = {
            .size = sizeof options, .target_bytes_per_megapixel = i ? 20000 : 0, .measure = 1};
        formats_buffer out = formats_buffer_make(SIZE_MAX / 4);
        const taper_sink sink = dct_sink(&out);
        taper_encoder *encoder;
        assert_int_equal(taper_encoder_new(&encoder, f->model, &options, NULL), TAPER_OK);
        assert_int_equal(taper_encoder_add(encoder, &f->image, NULL, -1, NULL), TAPER_OK);
        assert_int_equal(taper_encoder_is_short(encoder), 0);
        assert_int_equal(taper_encoder_finish(encoder, most, &sink, NULL), 0);
        assert_int_equal(taper_encoder_is_short(encoder), i == 1);
        if (i == 1) most = out.size;
        taper_encoder_free(encoder);
        formats_buffer_free(&out);
    }
}

/* Let the model expect few bytes, so that more passes are planned than a target needs. */
static void expect_few_bytes(taper_model *model) {
    codec_code_tables *t = &model->tables;
    for (uint32_t l = 0; l < t->n_layers; l++)
        t->layer[l].bytes_per_mpixel =
            (uint32_t)(300000 * (uint64_t)t->layer[l].pass / t->n_passes);
}

/* With `measure` coding neither ends early nor goes on after the planned passes. */
static void a_target_is_cut_from_the_same_data(void **state) {
    const fixture *f = *state;
    size_t compared = 0;
    formats_buffer file = formats_buffer_make(1 << 24);
    taper_model *model = dct_model_make((codec_window){8, 8, 3, NULL}, 0, 2, &file);
    expect_few_bytes(model);
    for (uint64_t target = 20000; target < 3000000; target += target / 9) {
        taper_encode_options options = {.target_bytes_per_megapixel = target};
        formats_buffer got = dct_encode(model, &f->image, 1, &options, 1);
        options.measure = 1;
        formats_buffer want = dct_encode(model, &f->image, 1, &options, 1);
        const uint64_t most = target * WIDTH * HEIGHT / 1000000;
        assert_true(data_of(&got) <= most && data_of(&got) >= data_of(&want));
        if (data_of(&want) == most) assert_equal_files(&got, &want);
        compared += data_of(&want) == most;
        formats_buffer_free(&got), formats_buffer_free(&want);
    }
    assert_true(compared > 5);
    taper_model_free(model);
    formats_buffer_free(&file);
}

/* A plain picture ends at most the front matter and 2 KiB below its target. */
static void a_plain_picture_reaches_its_target(void **state) {
    const fixture *f = *state;
    size_t longer = 0;
    const uint64_t all = data_of(&f->plain_whole);
    for (uint64_t target = 100000; target < 2000000; target += target / 5) {
        taper_encode_options options = {.target_bytes_per_megapixel = target};
        formats_buffer got = dct_encode(f->model, &f->plain, 1, &options, 1);
        options.measure = 1;
        formats_buffer planned = dct_encode(f->model, &f->plain, 1, &options, 1);
        const uint64_t most = target * WIDTH * HEIGHT / 1000000, data = data_of(&got);
        assert_true(data <= most && (data == all || data + 2048 + 300 >= most));
        if (data > data_of(&planned)) {
            formats_buffer want = truncated(&f->plain_whole, got.size);
            assert_equal_files(&got, &want);
            formats_buffer_free(&want);
            longer++;
        } else {
            assert_equal_files(&got, &planned);
        }
        formats_buffer_free(&got), formats_buffer_free(&planned);
    }
    assert_true(longer > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_is_as_truncating),
        cmocka_unit_test(a_limit_below_the_front_matter_is_refused),
        cmocka_unit_test(a_target_below_the_limit_is_told),
        cmocka_unit_test(a_target_is_cut_from_the_same_data),
        cmocka_unit_test(a_plain_picture_reaches_its_target),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
