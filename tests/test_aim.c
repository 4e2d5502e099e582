/* test_aim.c -- images that end at a PSNR of their own: how well it is foreseen, what the container
 * then has of each, the floor below a limit, and the report. */
#include "cmocka_all.h"
#include "codec/groups/aim.h"
#include "codec/model/builtin_models.h"
#include "dct_model.h"
#include "formats/container.h"
#include "open_decoder.h"
#include "tiny_binary_model.h"

enum { N = 30, FLOOR = 30 };

typedef struct fixture {
    taper_model *model;
    taper_image image[N]; /* every third one is plain, one is middling, one is rich */
} fixture;

static int make(void **state) {
    static fixture f;
    if (taper_model_builtin(&f.model, "tiny", NULL) != TAPER_OK) return -1;
    for (int i = 0; i < N; i++) {
        f.image[i] = dct_picture(40, 36, 3, (uint64_t)i);
        uint8_t *pixel = f.image[i].pixels;
        uint64_t random = 5 + (uint64_t)i;
        const int grain = i % 3 * 30 + 2;
        for (size_t k = 0; k < formats_image_samples(&f.image[i]); k++)
            pixel[k] = (uint8_t)(pixel[k] / 2 + 30 + (int)(picture_random(&random) >> 40) % grain);
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

/* Encode images from .. end - 1 with an aim. report: NULL: not wanted. */
static formats_buffer encode(const fixture *f, int from, int end, double aim, uint64_t most,
                             const taper_encode_options *options, taper_aim_report *report) {
    formats_buffer file = formats_buffer_make(1 << 24);
    const taper_sink sink = dct_sink(&file);
    taper_encode_options own = *options;
    taper_encoder *encoder;
    own.size = sizeof own;
    assert_int_equal(taper_encoder_new(&encoder, f->model, &own, NULL), TAPER_OK);
    for (int i = from; i < end; i++) {
        if (aim > 0) assert_int_equal(taper_encoder_set_aim(encoder, aim, NULL), TAPER_OK);
        assert_int_equal(taper_encoder_add(encoder, &f->image[i], NULL, -1, NULL), TAPER_OK);
    }
    assert_int_equal(taper_encoder_finish(encoder, most, &sink, NULL), TAPER_OK);
    if (report) assert_int_equal(taper_encoder_aims(encoder, report, NULL), TAPER_OK);
    taper_encoder_free(encoder);
    return file;
}

/* The PSNR of images from .. end - 1 in the first `size` bytes of a container. */
static void measure(const fixture *f, const formats_buffer *file, size_t size, int from, int end,
                    double *psnr) {
    const size_t bytes = formats_image_bytes(&f->image[0]);
    formats_buffer pixels = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(file->data, size, f->model, &pixels, NULL), TAPER_OK);
    for (int i = from; i < end; i++)
        psnr[i] = dct_mean_psnr(&f->image[i], 1, pixels.data + (size_t)(i - from) * bytes);
    formats_buffer_free(&pixels);
}

static double least(const double *psnr, int n) {
    double db = psnr[0];
    for (int i = 1; i < n; i++) db = fmin(db, psnr[i]);
    return db;
}

/* Ends fall; the errors rise with them; the last end that suffices is taken, or else all passes. */
static void ends_and_errors_are_in_order(void **state) {
    const fixture *f = *state;
    uint32_t end[2][CODEC_AIM_ENDS];
    double mse[CODEC_AIM_ENDS];
    codec_backend backend;
    codec_backend_cpu(&backend);
    for (int beyond = 0; beyond < 2; beyond++) {
        codec_aim_ends(&f->model->tables, beyond, end[beyond]);
        assert_int_equal(end[beyond][0], f->model->tables.n_passes);
        for (int k = 1; k < CODEC_AIM_ENDS; k++)
            assert_true(end[beyond][k] < end[beyond][k - 1] && end[beyond][k] > 0);
    }
    assert_true(end[1][CODEC_AIM_ENDS - 1] < end[0][CODEC_AIM_ENDS - 1] / 2);
    codec_network network;
    float *made;
    assert_int_equal(codec_model_encoder(f->model, 1, "", &network, &made, NULL), TAPER_OK);
    assert_int_equal(codec_aim_errors(f->model, &network, &backend, &f->image[1], end[0], mse),
                     TAPER_OK);
    for (int k = 1; k < CODEC_AIM_ENDS; k++) assert_true(mse[k] > mse[k - 1]);
    for (uint32_t k = 0; k < CODEC_AIM_ENDS; k++) {
        assert_int_equal(codec_aim_choose(mse, mse[k]), k);
        assert_int_equal(codec_aim_choose(mse, mse[k] * 1.0001), k);
    }
    assert_int_equal(codec_aim_choose(mse, mse[0] / 2), 0);
    free(made);
}

/* Every image reaches its aim, and no image much more, unless it ends first of all. */
static void images_end_at_their_aims(void **state) {
    const fixture *f = *state;
    const taper_encode_options options = {.threads = 2}, single = {.threads = 1};
    formats_buffer whole = encode(f, 0, N, 0, 0, &options, NULL);
    size_t before = 0;
    for (double aim = 34; aim < 45; aim += 4) {
        taper_aim_report report = {.size = sizeof report};
        formats_buffer file = encode(f, 0, N, aim, 0, &options, &report),
                       again = encode(f, 0, N, aim, 0, &single, NULL);
        double psnr[N], most = 0;
        formats_front front;
        measure(f, &file, file.size, 0, N, psnr);
        for (int i = 0; i < N; i++) most = fmax(most, psnr[i]);
        print_message("aim %g: %.2f to %.2f dB, %zu of %zu bytes\n", aim, least(psnr, N), most,
                      file.size, whole.size);
        assert_true(least(psnr, N) > aim - 0.3 && (most < aim + 5 || aim < 40));
        assert_true(file.size > before && file.size < whole.size * 9 / 10);
        assert_int_equal(file.size, again.size);
        assert_memory_equal(file.data, again.data, file.size);
        assert_int_equal(formats_front_read(file.data, file.size, NULL, &front, NULL), TAPER_OK);
        assert_in_range(front.rate_classes, 2, CODEC_AIM_ENDS);
        formats_front_free(&front);
        assert_int_equal(report.below, 0);
        assert_int_equal(report.ahead, 0);
        assert_int_equal(report.cut, file.size);
        before = file.size;
        formats_buffer_free(&file), formats_buffer_free(&again);
    }
    formats_buffer_free(&whole);
}

/* One image has one rate class, whose layers all have passes, in every layout. */
static void one_image_ends_at_its_aim(void **state) {
    const fixture *f = *state;
    for (int layout = 0; layout <= TAPER_LAYOUT_GALLERY; layout++) {
        const taper_encode_options options = {.layout = (taper_layout)layout};
        formats_buffer file = encode(f, 2, 3, 38, 0, &options, NULL);
        formats_front front;
        double psnr[N];
        measure(f, &file, file.size, 2, 3, psnr);
        assert_true(psnr[2] > 37.7 && psnr[2] < 41);
        assert_int_equal(formats_front_read(file.data, file.size, NULL, &front, NULL), TAPER_OK);
        assert_int_equal(front.rate_classes, 1);
        assert_true(front.layer_end[front.layers - 1] < f->model->tables.n_passes);
        formats_front_free(&front);
        formats_buffer_free(&file);
    }
}

/* Below a limit all images reach the floor, which they do not without it. The price is told; so is
 * a limit that is too small. Without a limit all passes follow. */
static void a_floor_holds_below_a_limit(void **state) {
    const fixture *f = *state;
    const taper_encode_options options = {.beyond_aims = 1}, plain = {.threads = 0};
    taper_aim_report report = {.size = sizeof report};
    formats_buffer whole = encode(f, 0, N, FLOOR, 0, &options, &report);
    double floor[N], even[N], all[N];
    const uint64_t most = report.cut + 100;
    assert_true(report.cut > 0 && report.cut < whole.size);
    measure(f, &whole, report.cut, 0, N, floor);
    assert_true(least(floor, N) > FLOOR - 0.3);
    measure(f, &whole, whole.size, 0, N, all);
    assert_true(least(all, N) > 45);
    formats_buffer with = encode(f, 0, N, FLOOR, most, &options, &report),
                   without = encode(f, 0, N, 0, most, &plain, NULL);
    measure(f, &with, with.size, 0, N, floor);
    measure(f, &without, without.size, 0, N, even);
    print_message("the least image: %.2f dB, without the floor %.2f dB; %llu bytes ahead\n",
                  least(floor, N), least(even, N), (unsigned long long)report.ahead_bytes);
    assert_true(with.size <= most && least(floor, N) > FLOOR - 0.3 && least(even, N) < FLOOR - 0.5);
    assert_int_equal(report.below, 0);
    assert_in_range(report.ahead, 1, N - 1);
    assert_in_range(report.ahead_bytes, 100, with.size);
    formats_buffer little = encode(f, 0, N, FLOOR, most / 2, &options, &report);
    assert_in_range(report.below, 1, N);
    assert_int_equal(report.cut, 0);
    formats_buffer_free(&whole), formats_buffer_free(&with), formats_buffer_free(&without);
    formats_buffer_free(&little);
}

/* An aim that the model cannot reach: all passes, and the report says so. Aims may change. */
static void aims_may_be_out_of_reach(void **state) {
    const fixture *f = *state;
    const taper_encode_options options = {.threads = 0};
    taper_aim_report report = {.size = sizeof report};
    formats_buffer whole = encode(f, 0, N, 0, 0, &options, NULL),
                   file = encode(f, 0, N, 100, 0, &options, &report);
    double a[N], b[N];
    measure(f, &whole, whole.size, 0, N, a);
    measure(f, &file, file.size, 0, N, b);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(report.below, N);
    formats_buffer_free(&whole), formats_buffer_free(&file);
}

/* Containers whose images end at different places merge, and decode to what they were. */
static void containers_with_aims_merge(void **state) {
    const fixture *f = *state;
    const taper_encode_options options = {.threads = 0};
    enum { SHARDS = 6, EACH = N / SHARDS };
    formats_buffer file[SHARDS], merged = formats_buffer_make(1 << 24);
    formats_memory memory[SHARDS];
    taper_source source[SHARDS];
    double want[N], got[N];
    for (int s = 0; s < SHARDS; s++) {
        file[s] = encode(f, s * EACH, (s + 1) * EACH, 38 + s % 3, 0, &options, NULL);
        measure(f, &file[s], file[s].size, s * EACH, (s + 1) * EACH, want);
        memory[s] = (formats_memory){file[s].data, file[s].size};
        source[s] = formats_memory_source(&memory[s]);
    }
    const taper_sink sink = dct_sink(&merged);
    assert_int_equal(taper_merge(source, SHARDS, &sink, NULL, NULL), TAPER_OK);
    measure(f, &merged, merged.size, 0, N, got);
    assert_memory_equal(got, want, sizeof want);
    for (int s = 0; s < SHARDS; s++) formats_buffer_free(&file[s]);
    formats_buffer_free(&merged);
}

static void refusals_change_nothing(void **state) {
    const fixture *f = *state;
    taper_encode_options options = {.size = sizeof options};
    taper_encoder *e;
    taper_error error = {0};
    taper_aim_report report = {.size = sizeof report};
    assert_int_equal(taper_encoder_new(&e, f->model, &options, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_set_aim(e, -1, &error), TAPER_ERR_ARG);
    assert_int_equal(taper_encoder_set_aim(e, 100.5, &error), TAPER_ERR_ARG);
    assert_int_equal(taper_encoder_set_aim(e, NAN, &error), TAPER_ERR_ARG);
    assert_int_equal(taper_encoder_aims(e, &report, &error), TAPER_ERR_ARG);
    assert_int_equal(taper_encoder_add(e, &f->image[0], NULL, -1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_set_aim(e, 40, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "before taper_encoder_add"));
    taper_encoder_free(e);
    options.allocation = TAPER_ALLOCATION_MEAN;
    assert_int_equal(taper_encoder_new(&e, f->model, &options, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_set_aim(e, 40, &error), TAPER_ERR_ARG);
    assert_int_equal(error.fact, TAPER_FACT_ALLOCATION);
    taper_encoder_free(e);
    formats_buffer file = formats_buffer_make(1 << 24);
    tiny_shape shape = {.window = {8, 8, 3, NULL}, .units = 64, .depth = 2, .density = 0.5f};
    taper_model *binary = tiny_binary_make(shape, 1, &file);
    options.allocation = TAPER_ALLOCATION_EVEN;
    assert_int_equal(taper_encoder_new(&e, binary, &options, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_set_aim(e, 40, &error), TAPER_ERR_UNSUPPORTED);
    assert_int_equal(taper_encoder_add(e, &f->image[0], NULL, -1, NULL), TAPER_OK);
    taper_encoder_free(e);
    taper_model_free(binary);
    formats_buffer_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_and_errors_are_in_order),
        cmocka_unit_test(images_end_at_their_aims),
        cmocka_unit_test(one_image_ends_at_its_aim),
        cmocka_unit_test(a_floor_holds_below_a_limit),
        cmocka_unit_test(aims_may_be_out_of_reach),
        cmocka_unit_test(containers_with_aims_merge),
        cmocka_unit_test(refusals_change_nothing),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
