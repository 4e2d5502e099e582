/* test_allocation.c -- rate classes: which images go ahead, what a layer holds of each, and what a
 * reader makes of it. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/groups/allocation.h"
#include "codec/model/builtin_models.h"
#include "formats/container.h"
#include "tiny_binary_model.h"

enum { N = 36, CUTS = 4 };

typedef struct fixture {
    taper_model *model;
    taper_image image[N]; /* even ones plain, odd ones rich */
} fixture;

static int make(void **state) {
    static fixture f;
    codec_builtin_model tiny;
    if (!codec_builtin_model_named("tiny", &tiny)) return -1;
    if (taper_model_load(&f.model, tiny.bytes, tiny.size, NULL, NULL) != TAPER_OK) return -1;
    for (int i = 0; i < N; i++) {
        f.image[i] = dct_picture(32, 32, 3, (uint64_t)i);
        uint8_t *pixel = f.image[i].pixels;
        int grain = i % 2 ? 40 : 20;
        uint64_t random = (uint64_t)i;
        for (size_t k = 0; k < formats_image_samples(&f.image[i]); k++) {
            int v = pixel[k] / 2 + 40 + (int)(picture_random(&random) >> 40) % grain;
            pixel[k] = (uint8_t)(v > 255 ? 255 : v);
        }
    }
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    for (int i = 0; i < N; i++) formats_image_free(&f->image[i]);
    taper_model_free(f->model);
    return 0;
}

static formats_buffer encode(const fixture *f, taper_allocation allocation, unsigned threads) {
    taper_encode_options options = {.allocation = allocation, .threads = threads};
    return dct_encode(f->model, f->image, N, &options, 1);
}

/* Rate classes ahead hold more of every layer, until all hold everything; the middle one what it is
 * given. */
static void layers_of_rate_classes_follow_each_other(void **state) {
    const codec_code_tables *t = &((fixture *)*state)->model->tables;
    uint32_t middle[CODEC_MAX_LAYERS_IN_MODEL], before[CODEC_MAX_LAYERS_IN_MODEL],
        end[CODEC_MAX_LAYERS_IN_MODEL], n = t->n_layers, differ = 0;
    assert_true(n > 5);
    for (uint32_t l = 0; l < n; l++) middle[l] = before[l] = t->layer[l].pass;
    for (uint32_t rate_class = 0; rate_class < CODEC_RATE_CLASSES; rate_class++) {
        assert_int_equal(codec_rate_class_layers(t, rate_class, middle, n, end), TAPER_OK);
        for (uint32_t l = 0; l < n; l++) {
            assert_true(end[l] <= t->n_passes && (l == 0 || end[l] >= end[l - 1]));
            assert_true(rate_class == 0 || end[l] <= before[l]);
            if (rate_class == CODEC_RATE_CLASSES / 2) assert_int_equal(end[l], middle[l]);
            differ += end[l] != before[l];
            before[l] = end[l];
        }
        assert_int_equal(end[n - 1], t->n_passes);
    }
    assert_true(differ > n);
}

/* For the mean PSNR the plain ones go ahead, for equal quality the rich ones. */
static void distortion_chooses_the_rate_class(void **unused) {
    (void)unused;
    for (double log_distortion = -20; log_distortion < 20; log_distortion += 0.01) {
        uint32_t mean = codec_rate_class_of(TAPER_ALLOCATION_MEAN, log_distortion, 3),
                 more = codec_rate_class_of(TAPER_ALLOCATION_MEAN, log_distortion + 0.3, 3),
                 equal = codec_rate_class_of(TAPER_ALLOCATION_EQUAL, log_distortion, 3),
                 less = codec_rate_class_of(TAPER_ALLOCATION_EQUAL, log_distortion + 0.3, 3);
        assert_true(mean <= more && more < CODEC_RATE_CLASSES && equal >= less &&
                    equal < CODEC_RATE_CLASSES);
    }
    assert_int_equal(codec_rate_class_of(TAPER_ALLOCATION_MEAN, 5, 5), CODEC_RATE_CLASSES / 2);
    assert_int_equal(codec_rate_class_of(TAPER_ALLOCATION_MEAN, -90, 5), 0);
    assert_int_equal(codec_rate_class_of(TAPER_ALLOCATION_EQUAL, -90, 5), CODEC_RATE_CLASSES - 1);
    /* an octave of distortion is an octave and a half of slopes, or one: half an octave a rate
     * class */
    assert_int_equal(codec_rate_class_of(TAPER_ALLOCATION_MEAN, 4, 3), CODEC_RATE_CLASSES / 2 + 3);
    assert_int_equal(codec_rate_class_of(TAPER_ALLOCATION_EQUAL, 4, 3), CODEC_RATE_CLASSES / 2 - 2);
}

/* Any allocation: the same bytes with any threads, the same pixels of a whole file, and names and
 * labels where they were. */
static void whole_files_are_the_same_images(void **state) {
    fixture *f = *state;
    formats_buffer even = encode(f, TAPER_ALLOCATION_EVEN, 1), want = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(even.data, even.size, f->model, &want, NULL), TAPER_OK);
    for (int allocation = 1; allocation < 3; allocation++) {
        formats_buffer a = encode(f, (taper_allocation)allocation, 1),
                       b = encode(f, (taper_allocation)allocation, 2),
                       pixels = formats_buffer_make(1 << 24);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
        assert_int_equal(dct_pull(a.data, a.size, f->model, &pixels, NULL), TAPER_OK);
        assert_int_equal(pixels.size, want.size);
        assert_memory_equal(pixels.data, want.data, want.size);
        formats_front front;
        assert_int_equal(formats_front_read(a.data, a.size, NULL, &front, NULL), TAPER_OK);
        assert_true(front.rate_classes > 3);
        assert_string_equal(formats_front_name(&front, 17), "f/17.png");
        for (int i = 0; i < N; i++) assert_int_equal(front.label[i], i % 3 - 1);
        formats_front_free(&front);
        formats_buffer_free(&a), formats_buffer_free(&b), formats_buffer_free(&pixels);
    }
    formats_buffer_free(&even), formats_buffer_free(&want);
}

/* Groups of several rate classes stay open as long as the limit on memory allows, and decode alike
 * when it does not. */
static void little_memory_is_enough(void **state) {
    fixture *f = *state;
    formats_buffer file = encode(f, TAPER_ALLOCATION_MEAN, 1), want = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(file.data, file.size, f->model, &want, NULL), TAPER_OK);
    uint64_t all = dct_state_bytes(f->model, 4, 4 * N); /* windows */
    formats_memory memory = {file.data, file.size};
    taper_source source = formats_memory_source(&memory);
    int refused = 0, decoded = 0;
    for (uint64_t most = all / 16; most < all; most += all / 16) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_memory = most};
        formats_buffer pixels = formats_buffer_make(1 << 24);
        taper_decoder *decoder;
        taper_error error = {0};
        taper_status status = open_decoder(&decoder, &source, f->model, &limits, &error);
        for (uint32_t i = 0; i < N && status == TAPER_OK; i++) {
            uint8_t one[32 * 32 * 3];
            taper_image out = {.pixels = one};
            status = taper_decoder_render(decoder, i, &out, NULL, &error);
            formats_write_bytes(&pixels, one, sizeof one);
        }
        close_decoder(decoder);
        if (status == TAPER_OK) {
            assert_int_equal(pixels.size, want.size);
            assert_memory_equal(pixels.data, want.data, want.size);
            decoded++;
        } else {
            assert_int_equal(status, TAPER_ERR_LIMIT);
            refused++;
        }
        formats_buffer_free(&pixels);
    }
    print_message("%d limits refused, %d sufficed\n", refused, decoded);
    assert_true(refused > 0 && decoded > 3);
    formats_buffer_free(&file), formats_buffer_free(&want);
}

/* Single bits have no slopes. */
static void binary_models_are_refused(void **unused) {
    (void)unused;
    formats_buffer file = formats_buffer_make(1 << 24);
    tiny_shape shape = {.window = {8, 8, 3, NULL}, .units = 64, .depth = 2, .density = 0.5f};
    taper_model *model = tiny_binary_make(shape, 1, &file);
    taper_encode_options options = {.size = sizeof options, .allocation = TAPER_ALLOCATION_EQUAL};
    taper_encoder *encoder;
    taper_error error = {0};
    assert_int_equal(taper_encoder_new(&encoder, model, &options, &error), TAPER_ERR_ARG);
    assert_int_equal(error.fact, TAPER_FACT_ALLOCATION);
    assert_null(encoder);
    options.allocation = TAPER_ALLOCATION_EVEN;
    assert_int_equal(taper_encoder_new(&encoder, model, &options, &error), TAPER_OK);
    taper_encoder_free(encoder);
    taper_model_free(model);
    formats_buffer_free(&file);
}

/* Mean PSNR of the plain images less that of the rich ones at a cut; all images' in *mean. */
static double lead_of_plain_ones(const fixture *f, const formats_buffer *file, size_t size,
                                 double *mean) {
    formats_buffer pixels = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(file->data, size, f->model, &pixels, NULL), TAPER_OK);
    double sum[2] = {0, 0};
    size_t bytes = formats_image_bytes(&f->image[0]);
    for (int i = 0; i < N; i++)
        sum[i % 2] += dct_mean_psnr(&f->image[i], 1, pixels.data + (size_t)i * bytes);
    formats_buffer_free(&pixels);
    *mean = (sum[0] + sum[1]) / N;
    return (sum[0] - sum[1]) / (N / 2);
}

/* Who goes ahead gains, and who does not pays; more bytes never hurt. */
static void bits_go_where_they_are_sent(void **state) {
    fixture *f = *state;
    formats_buffer file[3];
    double before[3] = {0, 0, 0}, lead[3] = {0, 0, 0};
    for (int a = 0; a < 3; a++) file[a] = encode(f, (taper_allocation)a, 1);
    for (size_t cut = 1; cut <= CUTS; cut++)
        for (int a = 0; a < 3; a++) {
            size_t front = (size_t)dct_info(&file[a], f->model).front_bytes;
            size_t data = file[0].size - (size_t)dct_info(&file[0], f->model).front_bytes;
            double mean;
            lead[a] += lead_of_plain_ones(f, &file[a], front + data * cut / 12, &mean) / CUTS;
            assert_true(mean >= before[a] - 0.05);
            before[a] = mean;
        }
    print_message("plain ones lead by: even %.2f, mean %.2f, equal %.2f dB\n", lead[0], lead[1],
                  lead[2]);
    assert_true(lead[1] > lead[0] + 0.5 && lead[2] < lead[0] - 0.5);
    for (int a = 0; a < 3; a++) formats_buffer_free(&file[a]);
}

/* Groups of all rate classes end together after 16,384 images, so that the front matter of many
 * images can be in leaves. */
static void many_images_close_their_groups(void **unused) {
    (void)unused;
    enum { IMAGES = 17000, CLOSED = 1 << 14 };
    formats_buffer model_file = formats_buffer_make(1 << 20), file = formats_buffer_make(1 << 24);
    taper_model *model = dct_model_make((codec_window){4, 4, 1, NULL}, 4, 4, &model_file);
    const taper_encode_options options = {.size = sizeof options,
                                          .allocation = TAPER_ALLOCATION_MEAN};
    const taper_sink sink = dct_sink(&file);
    taper_encoder *encoder;
    formats_front front, shared;
    formats_root root;
    uint64_t random = 3;
    assert_int_equal(taper_encoder_new(&encoder, model, &options, NULL), TAPER_OK);
    for (int i = 0; i < IMAGES; i++) {
        uint8_t pixels[12];
        const uint64_t grain = 2 + picture_random(&random) % 250;
        for (int k = 0; k < 12; k++) pixels[k] = (uint8_t)(picture_random(&random) % grain);
        const taper_image image = {4, 3, 1, 8, pixels};
        assert_int_equal(taper_encoder_add(encoder, &image, NULL, -1, NULL), TAPER_OK);
    }
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(encoder);
    assert_int_equal(formats_front_read(file.data, file.size, NULL, &front, NULL), TAPER_OK);
    assert_true(front.rate_classes > 3 && front.groups > front.rate_classes);
    for (uint32_t p = 0; p < CLOSED; p++) assert_true(formats_front_image(&front, p) < CLOSED);
    assert_int_equal(formats_head_read(file.data, file.size, NULL, &shared, &root, NULL), TAPER_OK);
    assert_int_equal(root.leaves, 2);
    assert_int_equal(root.leaf[1].first_image, CLOSED);
    formats_front_free(&front), formats_front_free(&shared), formats_root_free(&root);
    taper_model_free(model);
    formats_buffer_free(&model_file), formats_buffer_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_of_rate_classes_follow_each_other),
        cmocka_unit_test(distortion_chooses_the_rate_class),
        cmocka_unit_test(whole_files_are_the_same_images),
        cmocka_unit_test(little_memory_is_enough),
        cmocka_unit_test(binary_models_are_refused),
        cmocka_unit_test(bits_go_where_they_are_sent),
        cmocka_unit_test(many_images_close_their_groups),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
