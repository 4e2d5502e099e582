/* test_encoder.c -- feeding images: what is taken, what is refused, groups, layers, targets,
 * options. */
#include "tests/infos.h"
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/container/encoder.h"
#include "codec/container/encoder_groups.h"
#include "dct_model.h"
#include "formats/container.h"
#include <sys/stat.h>
#include <unistd.h>

enum { N = 30 };

typedef struct fixture {
    taper_model *colour, *grey;
    formats_buffer file;
    taper_image image[N];
} fixture;

static int make(void **state) {
    static fixture f;
    f = (fixture){.file = formats_buffer_make(1 << 24)};
    f.colour = dct_model_make((codec_window){8, 8, 3, NULL}, 0, 2, &f.file);
    size_t size = f.file.size;
    f.grey = dct_model_make((codec_window){8, 8, 1, NULL}, 20, 2, &f.file);
    f.file.size = size; /* file: the colour model's bytes */
    for (int i = 0; i < N; i++) f.image[i] = dct_picture(13, 9, i % 4 ? 3 : 1, (uint64_t)i);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    for (int i = 0; i < N; i++) formats_image_free(&f->image[i]);
    taper_model_free(f->colour), taper_model_free(f->grey);
    formats_buffer_free(&f->file);
    return 0;
}

static formats_front front_of(const formats_buffer *file) {
    formats_front front;
    assert_int_equal(formats_front_read(file->data, file->size, NULL, &front, NULL), TAPER_OK);
    assert_int_equal(front.front_size + front.chunk_at[front.layers * front.groups], file->size);
    return front;
}

static void everything_arrives(void **state) {
    fixture *f = *state;
    formats_buffer file = dct_encode(f->colour, f->image, N, NULL, 1),
                   pixels = formats_buffer_make(1 << 24);
    formats_front front = front_of(&file);
    assert_int_equal(front.model_id, info_of_model(f->colour).id);
    assert_true(front.images == N && front.groups == 1 && front.layout == 0 && !front.tail &&
                !front.model);
    assert_int_equal(front.layer_end[front.layers - 1], info_of_model(f->colour).passes);
    for (int i = 0; i < N; i++) {
        char name[32];
        snprintf(name, sizeof name, "f/%d.png", i);
        assert_string_equal(formats_front_name(&front, (uint32_t)i), name);
        assert_int_equal(front.label[i], i % 3 - 1);
        assert_int_equal(front.geometry[i].channels, f->image[i].channels);
        assert_true(front.geometry[i].width == 13 && front.geometry[i].height == 9 &&
                    front.geometry[i].depth == 8);
    }
    assert_string_equal(formats_front_class_name(&front, 0), "cat");
    assert_int_equal(front.classes, 2);
    assert_int_equal(dct_pull(file.data, file.size, f->colour, &pixels, NULL), TAPER_OK);
    assert_true(dct_mean_psnr(f->image, N, pixels.data) > 44); /* a step of 2: under half a level */
    formats_front_free(&front);
    formats_buffer_free(&file), formats_buffer_free(&pixels);
}

static void sixteen_bits_arrive(void **state) {
    fixture *f = *state;
    taper_image deep = picture_noise(16, 8, 3, 16, 4);
    uint16_t *samples = deep.pixels;
    for (int i = 0; i < 16 * 8 * 3; i++) samples[i] = (uint16_t)(i * 170);
    formats_buffer file = dct_encode(f->colour, &deep, 1, NULL, 0),
                   pixels = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(file.data, file.size, f->colour, &pixels, NULL), TAPER_OK);
    assert_int_equal(pixels.size, 16 * 8 * 3 * 2);
    for (int i = 0; i < 16 * 8 * 3; i++)
        assert_true(abs(((uint16_t *)(void *)pixels.data)[i] - samples[i]) < 257 * 8);
    formats_image_free(&deep);
    formats_buffer_free(&file), formats_buffer_free(&pixels);
}

/* An image that cannot be taken is refused alone. */
static void bad_images_are_refused_alone(void **state) {
    fixture *f = *state;
    uint8_t pixels[64 * 4] = {0};
    const struct {
        taper_image image;
        const char *name;
        taper_status want;
        int grey;
    } cases[] = {{{4, 4, 4, 8, pixels}, NULL, TAPER_ERR_UNSUPPORTED, 1},
                 {{4, 4, 3, 8, pixels}, NULL, TAPER_ERR_UNSUPPORTED, 1},
                 {{0, 4, 3, 8, pixels}, NULL, TAPER_ERR_ARG, 0},
                 {{4, 0, 3, 8, pixels}, NULL, TAPER_ERR_ARG, 0},
                 {{4, 4, 0, 8, pixels}, NULL, TAPER_ERR_ARG, 0},
                 {{4, 4, 5, 8, pixels}, NULL, TAPER_ERR_ARG, 0},
                 {{4, 4, 3, 9, pixels}, NULL, TAPER_ERR_ARG, 0},
                 {{4, 4, 3, 8, NULL}, NULL, TAPER_ERR_ARG, 0},
                 {{4, 4, 3, 8, pixels}, "../x", TAPER_ERR_ARG, 0},
                 {{4, 4, 3, 8, pixels}, "", TAPER_ERR_ARG, 0},
                 {{101, 100, 1, 8, pixels}, NULL, TAPER_ERR_LIMIT, 0},
                 {{FORMATS_MAX_SIDE + 1u, 1, 1, 8, pixels}, NULL, TAPER_ERR_LIMIT, 0}};
    for (int grey = 0; grey < 2; grey++) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_pixels = 10000};
        taper_encode_options options = {.size = sizeof options, .limits = &limits};
        taper_encoder *encoder;
        assert_int_equal(taper_encoder_new(&encoder, grey ? f->grey : f->colour, &options, NULL),
                         TAPER_OK);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            taper_error error = {0};
            if (cases[i].grey != grey) continue;
            taper_status status =
                taper_encoder_add(encoder, &cases[i].image, cases[i].name, -1, &error);
            if (status != cases[i].want) fail_msg("case %zu: %d", i, status);
            assert_int_equal(error.status, status);
            assert_true(strlen(error.text) > 10);
        }
        taper_image good = {4, 4, 1, 8, pixels};
        assert_int_equal(taper_encoder_add(encoder, &good, NULL, -1, NULL), TAPER_OK);
        formats_buffer out = formats_buffer_make(1 << 20);
        taper_sink sink = dct_sink(&out);
        assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
        taper_encoder_free(encoder);
        formats_front front = front_of(&out);
        assert_int_equal(front.images, 1);
        assert_true(!front.names && !front.label);
        formats_front_free(&front);
        formats_buffer_free(&out);
    }
}

static void memory_and_image_limits_hold(void **state) {
    fixture *f = *state;
    uint8_t *pixels = calloc(400, 400);
    assert_non_null(pixels);
    taper_image large = {400, 400, 1, 8, pixels}, small = {8, 8, 1, 8, pixels};
    taper_limits limits = {.size = sizeof(taper_limits), .max_memory = 1 << 20, .max_images = 2};
    taper_encode_options options = {.size = sizeof options, .limits = &limits};
    taper_encoder *encoder;
    assert_int_equal(taper_encoder_new(&encoder, f->colour, &options, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add(encoder, &large, NULL, -1, NULL), TAPER_ERR_LIMIT);
    for (int i = 0; i < 2; i++)
        assert_int_equal(taper_encoder_add(encoder, &small, NULL, -1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add(encoder, &small, NULL, -1, NULL), TAPER_ERR_LIMIT);
    taper_encoder_free(encoder); /* unfinished: dropped */
    free(pixels);
}

/* Names that are kept until the end: 4 kB each. */
static void lists_count_against_the_limit(void **state) {
    fixture *f = *state;
    enum { BYTES = 4000, MOST = 20 << 20 };
    uint8_t pixel[3] = {1, 2, 3};
    char name[BYTES] = {0};
    taper_image small = {1, 1, 3, 8, pixel};
    taper_limits limits = {.size = sizeof(taper_limits), .max_memory = MOST};
    taper_encode_options options = {.size = sizeof options, .limits = &limits};
    taper_encoder *encoder;
    memset(name, 'n', BYTES - 1);
    assert_int_equal(taper_encoder_new(&encoder, f->colour, &options, NULL), TAPER_OK);
    int added = 0;
    taper_status status = TAPER_OK;
    for (; status == TAPER_OK && added * BYTES <= MOST; added++)
        status = taper_encoder_add(encoder, &small, name, -1, NULL);
    assert_int_equal(status, TAPER_ERR_LIMIT);
    assert_true(added * BYTES > MOST / 4);
    taper_error error = {0};
    assert_int_equal(taper_encoder_add(encoder, &small, name, -1, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_MEMORY);
    taper_encoder_free(encoder);
}

/* What groups took is given back: an image leaves a record behind, no more. */
static void groups_give_their_memory_back(void **state) {
    fixture *f = *state;
    enum { IMAGES = 1500, A_RECORD = 400 };
    uint8_t pixel[3] = {1, 2, 3};
    taper_image small = {1, 1, 3, 8, pixel};
    for (int i = 0; i < 4; i++) {
        taper_encode_options options = {.size = sizeof options,
                                        .layout = i & 1 ? TAPER_LAYOUT_IMAGE : TAPER_LAYOUT_SET,
                                        .group_images = i & 1 ? 0 : 30,
                                        .allocation =
                                            i & 2 ? TAPER_ALLOCATION_MEAN : TAPER_ALLOCATION_EVEN};
        taper_encoder *encoder;
        assert_int_equal(taper_encoder_new(&encoder, f->colour, &options, NULL), TAPER_OK);
        for (int k = 0; k < IMAGES; k++)
            assert_int_equal(taper_encoder_add(encoder, &small, NULL, -1, NULL), TAPER_OK);
        assert_int_equal(codec_encoder_submit_all(encoder), TAPER_OK);
        assert_in_range(encoder->shared.account->used, IMAGES * 16, IMAGES * A_RECORD);
        taper_encoder_free(encoder);
    }
}

static void options_have_their_ranges(void **state) {
    fixture *f = *state;
    taper_encode_options bad[] = {
        {.group_images = 65537}, {.layout = (taper_layout)3}, {.embed_model = 1}, {.size = 0}};
    for (int i = 0; i < 4; i++) {
        if (i < 3) bad[i].size = sizeof *bad;
        taper_encoder *encoder = (taper_encoder *)f;
        taper_error error = {0};
        assert_int_equal(taper_encoder_new(&encoder, f->colour, &bad[i], &error), TAPER_ERR_ARG);
        assert_null(encoder);
        assert_int_equal(error.status, TAPER_ERR_ARG);
    }
    taper_encoder *encoder;
    assert_int_equal(taper_encoder_new(&encoder, f->colour, NULL, NULL), TAPER_OK);
    formats_buffer out = formats_buffer_make(100);
    taper_sink sink = dct_sink(&out);
    taper_error error = {0};
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, &error), TAPER_ERR_ARG); /* no image */
    assert_non_null(strstr(error.text, "nothing to encode"));
    assert_int_equal(out.size, 0);
    static const char *const names[] = {"a"};
    assert_int_equal(taper_encoder_set_classes(encoder, names, 1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_set_classes(encoder, names, 1, NULL), TAPER_ERR_ARG);
    taper_encoder_free(encoder);
    taper_encoder_free(NULL);
}

/* A model whose rows are not near orthonormal cannot be inverted, and encodes nothing. */
static void hopeless_models_are_refused(void **state) {
    fixture *f = *state;
    for (uint32_t i = 0; i < f->grey->network.inputs; i++) f->grey->network.synthesis[i] *= 100;
    taper_encoder *encoder;
    taper_error error = {0};
    assert_int_equal(taper_encoder_new(&encoder, f->grey, NULL, &error), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "train it again"));
    assert_null(encoder);
    for (uint32_t i = 0; i < f->grey->network.inputs; i++) f->grey->network.synthesis[i] /= 100;
}

static void groups_are_as_asked(void **state) {
    fixture *f = *state;
    const struct {
        uint32_t group_images, groups;
        taper_layout layout;
    } cases[] = {{0, 1, TAPER_LAYOUT_SET},     {1, N, TAPER_LAYOUT_SET},
                 {7, 5, TAPER_LAYOUT_SET},     {N, 1, TAPER_LAYOUT_SET},
                 {65536, 1, TAPER_LAYOUT_SET}, {7, N, TAPER_LAYOUT_IMAGE},
                 {7, N, TAPER_LAYOUT_GALLERY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        taper_encode_options options = {.layout = cases[i].layout,
                                        .group_images = cases[i].group_images};
        formats_buffer file = dct_encode(f->colour, f->image, N, &options, 0),
                       pixels = formats_buffer_make(1 << 24);
        formats_front front = front_of(&file);
        assert_int_equal(front.groups, cases[i].groups);
        assert_int_equal(front.layout, cases[i].layout);
        if (cases[i].layout == TAPER_LAYOUT_IMAGE) assert_int_equal(front.layers, 1);
        for (uint32_t g = 0; g + 1 < front.groups; g++)
            assert_int_equal(front.group_first[g + 1] - front.group_first[g],
                             cases[i].layout ? 1 : cases[i].group_images);
        assert_int_equal(dct_pull(file.data, file.size, f->colour, &pixels, NULL), TAPER_OK);
        assert_true(dct_mean_psnr(f->image, N, pixels.data) > 44);
        formats_front_free(&front);
        formats_buffer_free(&file), formats_buffer_free(&pixels);
    }
}

/* Without a size asked for, a group holds about a million pixels. */
static void groups_hold_a_million_pixels(void **state) {
    fixture *f = *state;
    taper_image image[5];
    for (int i = 0; i < 5; i++)
        image[i] = dct_picture(700, 600, 1, (uint64_t)i); /* 420,000 pixels */
    taper_encode_options options = {.target_bytes_per_megapixel = 1000};
    formats_buffer file = dct_encode(f->grey, image, 5, &options, 0);
    formats_front front = front_of(&file);
    assert_int_equal(front.groups, 3);
    formats_front_free(&front);
    formats_buffer_free(&file);
    for (int i = 0; i < 5; i++) formats_image_free(&image[i]);
}

/* Layers of an image alone are to double its size, which takes few; beside another, or where a
 * group's size is set, they keep the images in step. */
static void an_image_alone_has_few_layers(void **state) {
    fixture *f = *state;
    taper_image image[2] = {dct_picture(400, 300, 3, 5), dct_picture(400, 300, 3, 6)};
    taper_encode_options grouped = {.group_images = 4};
    formats_buffer file[3] = {dct_encode(f->colour, image, 1, NULL, 0),
                              dct_encode(f->colour, image, 2, NULL, 0),
                              dct_encode(f->colour, image, 1, &grouped, 0)};
    formats_front front[3];
    for (int i = 0; i < 3; i++) front[i] = front_of(&file[i]);
    printf("layers: %u alone, %u beside another, %u in a group of 4\n", front[0].layers,
           front[1].layers, front[2].layers);
    assert_true(front[0].layers >= 2 && front[0].layers * 2 <= front[1].layers);
    assert_true(front[2].layers > front[0].layers);
    for (int i = 0; i < 3; i++) formats_front_free(&front[i]), formats_buffer_free(&file[i]);
    formats_image_free(&image[0]), formats_image_free(&image[1]);
}

static void embedded_models_are_carried(void **state) {
    fixture *f = *state;
    taper_encode_options options = {
        .embed_model = 1, .model_bytes = f->file.data, .model_size = f->file.size};
    formats_buffer file = dct_encode(f->colour, f->image, 3, &options, 0),
                   pixels = formats_buffer_make(1 << 24);
    formats_front front = front_of(&file);
    assert_int_equal(front.model_size, f->file.size);
    assert_memory_equal(front.model, f->file.data, f->file.size);
    assert_int_equal(dct_pull(file.data, file.size, NULL, &pixels, NULL), TAPER_OK);
    assert_true(dct_mean_psnr(f->image, 3, pixels.data) > 44);
    formats_front_free(&front);
    formats_buffer_free(&file), formats_buffer_free(&pixels);
}

/* The target is a ceiling on the image data, and near it; in all layouts what is left decodes. */
static void targets_are_met(void **state) {
    fixture *f = *state;
    double psnr_before = 0;
    for (int layout = 0; layout < 3; layout++) {
        psnr_before = 0;
        for (uint64_t target = 20000; target < 3000000; target *= 3) {
            taper_encode_options options = {.layout = (taper_layout)layout,
                                            .target_bytes_per_megapixel = target};
            formats_buffer file = dct_encode(f->colour, f->image, N, &options, 0),
                           pixels = formats_buffer_make(1 << 24);
            formats_front front = front_of(&file);
            uint64_t data = file.size - front.front_size, most = target * N * 13 * 9 / 1000000;
            assert_true(data <= most);
            assert_int_equal(dct_pull(file.data, file.size, f->colour, &pixels, NULL), TAPER_OK);
            double psnr = dct_mean_psnr(f->image, N, pixels.data);
            assert_true(psnr >= psnr_before);
            psnr_before = psnr;
            formats_front_free(&front);
            formats_buffer_free(&file), formats_buffer_free(&pixels);
        }
    }
}

/* Labels beyond the classes are none. */
static void labels_need_a_class(void **state) {
    fixture *f = *state;
    static const char *const classes[] = {"a", "b"};
    static const int32_t label[] = {0, 1, 2, 1000, -1, -7};
    taper_encoder *encoder;
    formats_buffer out = formats_buffer_make(1 << 20);
    taper_sink sink = dct_sink(&out);
    assert_int_equal(taper_encoder_new(&encoder, f->colour, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_set_classes(encoder, classes, 2, NULL), TAPER_OK);
    for (int i = 0; i < 6; i++)
        assert_int_equal(
            taper_encoder_add(encoder, &f->image[i], i == 3 ? "x" : NULL, label[i], NULL),
            TAPER_OK);
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(encoder);
    formats_front front = front_of(&out);
    static const int32_t want[] = {0, 1, -1, -1, -1, -1};
    for (int i = 0; i < 6; i++) assert_int_equal(front.label[i], want[i]);
    assert_string_equal(formats_front_name(&front, 3), "x");
    assert_string_equal(formats_front_name(&front, 4), "000005.png"); /* one has a name: all have */
    formats_front_free(&front);
    formats_buffer_free(&out);
}

/* A sink that takes so many bytes, then fails. */
typedef struct small_sink {
    size_t left;
} small_sink;

static taper_status refuse(void *user, const void *bytes, size_t n) {
    small_sink *s = user;
    (void)bytes;
    if (n > s->left) return TAPER_ERR_IO;
    s->left -= n;
    return TAPER_OK;
}

static void a_failing_sink_is_reported(void **state) {
    fixture *f = *state;
    formats_buffer whole = dct_encode(f->colour, f->image, 3, NULL, 0);
    for (size_t room = 0; room < whole.size; room += 1 + whole.size / 9) {
        taper_encoder *encoder;
        small_sink small = {room};
        taper_sink sink = {&small, refuse};
        taper_error error = {0};
        assert_int_equal(taper_encoder_new(&encoder, f->colour, NULL, NULL), TAPER_OK);
        for (int i = 0; i < 3; i++)
            assert_int_equal(taper_encoder_add(encoder, &f->image[i], NULL, -1, NULL), TAPER_OK);
        assert_int_equal(taper_encoder_finish(encoder, 0, &sink, &error), TAPER_ERR_IO);
        assert_int_equal(error.status, TAPER_ERR_IO);
        taper_encoder_free(encoder);
    }
    formats_buffer_free(&whole);
}

/* What is encoded under a limit is decoded under it, and what is not is refused before work. */
static void what_is_encoded_can_be_decoded(void **state) {
    fixture *f = *state;
    taper_image picture = dct_picture(1200, 1000, 3, 1);
    uint64_t one = dct_state_bytes(f->colour, 1200 / 4, 1000 / 4);
    int refused = 0, drawn = 0;
    for (uint64_t most = one / 8; most < 4 * one; most += one / 16) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_memory = most};
        taper_encode_options options = {
            .size = sizeof options, .limits = &limits, .target_bytes_per_megapixel = 20000};
        formats_buffer file = formats_buffer_make(1 << 26);
        taper_sink sink = dct_sink(&file);
        taper_encoder *encoder;
        assert_int_equal(taper_encoder_new(&encoder, f->colour, &options, NULL), TAPER_OK);
        taper_status status = taper_encoder_add(encoder, &picture, NULL, -1, NULL);
        if (status == TAPER_OK) {
            assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
            formats_memory memory = {file.data, file.size};
            taper_source source = formats_memory_source(&memory);
            taper_decoder *decoder;
            taper_image out = {.pixels = malloc(formats_image_bytes(&picture))};
            assert_int_equal(open_decoder(&decoder, &source, f->colour, &limits, NULL), 0);
            assert_int_equal(taper_decoder_render(decoder, 0, &out, NULL, NULL), TAPER_OK);
            close_decoder(decoder);
            free(out.pixels);
            most += one, drawn++; /* a few are enough */
        } else {
            assert_int_equal(status, TAPER_ERR_LIMIT);
            refused++;
        }
        taper_encoder_free(encoder);
        formats_buffer_free(&file);
    }
    assert_true(refused > 0 && drawn > 0);
    formats_image_free(&picture);
}

/* The first lines of the manual: a picture becomes a file, by the built-in model. */
static void a_picture_becomes_a_file(void **state) {
    taper_image picture = dct_picture(50, 40, 3, 1), out = {.pixels = NULL};
    taper_error error = {0};
    taper_encoder *encoder;
    char path[] = "/tmp/taper-test-XXXXXX";
    (void)state;
    const int made = mkstemp(path); /* it is replaced */
    assert_int_equal(taper_encoder_new(&encoder, NULL, NULL, &error), TAPER_OK);
    assert_int_equal(taper_encoder_add(encoder, &picture, NULL, -1, &error), TAPER_OK);
    assert_int_equal(taper_encoder_finish_file(encoder, 0, path, &error), TAPER_OK);
    taper_encoder_free(encoder);

    taper_container *container;
    taper_decoder *decoder;
    taper_container_info info = {.size = sizeof info};
    assert_int_equal(taper_container_open_file(&container, path, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_container_get_info(container, &info, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_new(&decoder, container, NULL, NULL), TAPER_OK);
    out.pixels = malloc(formats_image_bytes(&picture));
    assert_int_equal(taper_decoder_render(decoder, 0, &out, NULL, NULL), TAPER_OK);
    taper_decoder_free(decoder), taper_container_close(container);

    /* what is refused leaves the file as it was */
    assert_int_equal(taper_encoder_new(&encoder, NULL, NULL, &error), TAPER_OK);
    assert_int_equal(taper_encoder_finish_file(encoder, 0, path, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "no image"));
    assert_int_equal(taper_encoder_finish_file(encoder, 0, "/nowhere/x", &error), TAPER_ERR_IO);
    taper_encoder_free(encoder);
    struct stat there;
    assert_int_equal(stat(path, &there), 0);
    assert_int_equal((uint64_t)there.st_size, info.file_bytes);
    close(made), unlink(path);
    formats_image_free(&picture), formats_image_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_becomes_a_file),
        cmocka_unit_test(everything_arrives),
        cmocka_unit_test(sixteen_bits_arrive),
        cmocka_unit_test(bad_images_are_refused_alone),
        cmocka_unit_test(memory_and_image_limits_hold),
        cmocka_unit_test(lists_count_against_the_limit),
        cmocka_unit_test(groups_give_their_memory_back),
        cmocka_unit_test(options_have_their_ranges),
        cmocka_unit_test(hopeless_models_are_refused),
        cmocka_unit_test(what_is_encoded_can_be_decoded),
        cmocka_unit_test(groups_are_as_asked),
        cmocka_unit_test(groups_hold_a_million_pixels),
        cmocka_unit_test(an_image_alone_has_few_layers),
        cmocka_unit_test(embedded_models_are_carried),
        cmocka_unit_test(targets_are_met),
        cmocka_unit_test(labels_need_a_class),
        cmocka_unit_test(a_failing_sink_is_reported),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
