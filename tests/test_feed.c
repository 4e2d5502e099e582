/* test_feed.c -- trainings whose rows are kept on the device, and sent to it step by step: the same
 * networks, to the bit; and what happens where memory is short. */
#include "every_device.h"
#include "train/dense/dense_trainer.h"
#include "train/nested/nested_errors.h"
#include "train/nested/nested_trainer.h"
#include "train/sampling/philox.h"
#include <stdio.h>

enum { SIDE = 5, D = SIDE * SIDE, K = 8, N = 90 };
static uint8_t pixels[N * D];
static uint32_t label[N];
static train_pixels data = {.pixels = pixels, .n = N, .inputs = D};
static uint32_t batch = 25; /* of whole units */
static char said[160];

static int set_up(void **state) {
    for (uint64_t i = 0; i < N; i++) {
        uint32_t word[4];
        train_philox(3, i, 900, word);
        label[i] = word[3] % 3;
        for (uint64_t j = 0; j < D; j++)
            pixels[i * D + j] =
                (uint8_t)((word[0] >> 24) * (j % SIDE) / SIDE + (word[j % 3] >> 25));
    }
    return open_every_device(state);
}

static void keep_words(void *user, const char *words) {
    (void)user;
    snprintf(said, sizeof said, "%s", words);
}

/* --- two learners ----------------------------------------------------------------------- */

/* Bit planes, moved examples, both stages. */
static taper_status requantise(void *user, const float *codes, size_t n, uint32_t units,
                               const train_requantise_draw *draw, float *out) {
    (void)user, (void)draw;
    for (size_t i = 0; i < n * units; i++) out[i] = (float)(4 * (int)(codes[i] / 4.0f));
    return TAPER_OK;
}

static taper_status dense(train_device *d, float *result) {
    static const uint32_t hidden[] = {12};
    train_dense_options o = train_dense_defaults();
    const train_callbacks callbacks = {.say = keep_words};
    codec_network net;
    taper_error error = {0};
    o.epochs = 1, o.batch = 20, o.seed = 5, o.jitter = 0.5f;
    o.width = o.height = SIDE;
    TAPER_TRY(codec_network_alloc(&net, D, K, CODEC_UNTIED, hidden, 1, hidden, 1));
    for (int j = 0; j < D; j++) net.mean[j] = 60.0f;
    for (int k = 0; k < K; k++) net.analysis[k * D + 3 * k] = net.synthesis[k * D + 3 * k] = 1.0f;
    taper_status status = train_dense(&o, &data, d, &net, &callbacks, NULL, &error);
    if (status == TAPER_OK)
        status = train_dense_decoder(&o, &data, d, &net, &(train_requantiser){requantise, NULL},
                                     &callbacks, NULL, &error);
    if (status == TAPER_OK) {
        memcpy(result, net.encoder.layer[0].weight, 12 * D * sizeof *result);
        memcpy(result + 12 * D, net.synthesis, K * D * sizeof *result);
    }
    codec_network_free(&net);
    return status;
}

/* Whole units: real-valued ones by either optimiser; binary ones exact thresholds, refitted. */
static taper_status nested(train_device *d, int binary, train_optimiser optimiser, float *result) {
    const train_nested_shape shape = {.inputs = D,
                                      .layers = 1,
                                      .width = {K},
                                      .tied = !binary,
                                      .binary = binary,
                                      .feedback = binary,
                                      .centre = binary ? 0.5f : 0.0f};
    train_nested_options o = train_nested_defaults();
    const train_nested_callbacks callbacks = {.say = keep_words};
    train_nested_network net;
    taper_error error = {0};
    float mean[D], scale;
    train_nested_statistics(&data, mean, &scale);
    o.epochs = 1, o.batch = optimiser == TRAIN_CG ? 2 * batch : batch, o.max_validation = 10;
    o.optimiser = optimiser;
    TAPER_TRY(train_nested_create(&net, &shape, d, mean, scale, 7));
    taper_status status = train_nested(&o, &data, &net, &callbacks, NULL, &error);
    assert_true((status == TAPER_OK) == !error.text[0]);
    if (status == TAPER_OK)
        status = train_download(&net.stream, result, net.weights.parameter, 450 * sizeof *result);
    train_nested_free(&net);
    return status;
}

enum { LEARNERS = 4, NUMBERS = 12 * D + K * D };

static taper_status learn(int learner, train_device *d, float result[NUMBERS]) {
    memset(result, 0, NUMBERS * sizeof *result);
    *said = 0;
    if (!learner) return dense(d, result);
    return nested(d, learner == 3, learner == 2 ? TRAIN_CG : TRAIN_ADAM, result);
}

/* --- both ways -------------------------------------------------------------------------- */

static void streamed_rows_train_the_same_network(void **state) {
    (void)state;
    static float kept[NUMBERS], streamed[NUMBERS], plain[NUMBERS];
    one_order();
    for (int learner = 0; learner < LEARNERS; learner++)
        for (int i = 0; i < DEVICES; i++) {
            train_device *d = &device[i].device;
            data.label = learner ? NULL : label;
            assert_int_equal(learn(learner, d, kept), TAPER_OK);
            assert_string_equal(said, "");
            if (!i) memcpy(plain, kept, sizeof plain);
            if (i < PROCESSORS) assert_memory_equal(plain, kept, sizeof plain);
            for (int timing = TIMINGS > 1; timing < TIMINGS; timing++) { /* late ones tell most */
                d->most_kept = N * D - 1;
                set_timing(timing);
                assert_int_equal(learn(learner, d, streamed), TAPER_OK);
                set_timing(0);
                d->most_kept = 0;
                assert_int_equal(!*said, d->in_host_memory);
                assert_true(!*said || strstr(said, ": 0.00225 MB of images do not fit: streamed"));
                if (memcmp(kept, streamed, sizeof kept) != 0)
                    fail_msg("learner %d, device %d, timing %d: other bits", learner, i, timing);
            }
        }
}

static taper_status no_room(train_device *d, size_t *bytes) {
    (void)d;
    *bytes = 1;
    return TAPER_OK;
}

/* Rows for which there is no room are streamed; beside others there will be room. */
static void beside_others_rows_wait_for_room(void **state) {
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        train_device *d = &device[i].device;
        const train_memory *memory = d->memory;
        train_memory full = *memory;
        train_feed feed;
        full.free_bytes = no_room;
        d->memory = &full;
        assert_int_equal(train_feed_open(&feed, &device[i].stream, pixels, N, D, 4), TAPER_OK);
        assert_int_equal(feed.streamed, !d->in_host_memory);
        train_feed_close(&feed);
        d->shared = 1;
        assert_int_equal(train_feed_open(&feed, &device[i].stream, pixels, N, D, 4),
                         d->in_host_memory ? TAPER_OK : TAPER_ERR_NOMEM);
        train_feed_close(&feed);
        d->shared = 0;
        d->memory = memory;
    }
}

#if defined(EVERY_DEVICE_KERNELS) && !defined(EVERY_DEVICE_GPU)
/* --- on the execution model -------------------------------------------------------------- */

/* The rows of a step are on their way while the step before is computed: what is computed late is
 * then not done when they are sent, but for the steps whose place they take. */
static void rows_are_sent_beside_the_step_before(void **state) {
    (void)state;
    enum { STEPS = 6, ROWS = 12 };
    on_device *d = &device[3];
    train_feed feed = {0};
    uint8_t *there = on_device_give(d, NULL, ROWS * D);
    d->device.most_kept = 1;
    cuda_model_set_timing(CUDA_MODEL_COPIES_EARLY);
    assert_int_equal(train_feed_open(&feed, &d->stream, pixels, N, D, ROWS), TAPER_OK);
    cuda_model_fail(0, 0); /* counts from here */
    for (uint64_t step = 0; step < STEPS; step++) {
        train_fed fed;
        uint64_t allocations, done;
        assert_int_equal(train_feed_take(&feed, &d->stream, NULL, step * ROWS, ROWS, &fed),
                         TAPER_OK);
        cuda_model_count(&allocations, &done);
        assert_int_equal(done, step < 2 ? 0 : step - 1);
        assert_int_equal(d->stream.ops->gather_rows(&d->stream, ROWS, D, fed.rows, NULL, there),
                         TAPER_OK);
    }
    train_feed_close(&feed);
    cuda_model_set_timing(CUDA_MODEL_AT_ONCE);
    d->device.most_kept = 0;
    on_device_forget(d);
}

/* A device with more and more memory: too little for the run, too little for its rows, enough. */
static void a_small_device_streams(void **state) {
    (void)state;
    enum { MANY = 3000 };
    static float kept[NUMBERS], streamed[NUMBERS];
    static uint8_t many[MANY * D];
    train_device *d = &device[3].device;
    cuda_model_machine m = {.devices = 1, .capability = 90, .driver = 13000, .bytes = 1 << 30};
    size_t room, runs[3] = {0};
    for (size_t i = 0; i < sizeof many; i++) many[i] = pixels[i % sizeof pixels];
    data.pixels = many, data.n = MANY, batch = 500;
    one_order();
    assert_int_equal(learn(1, d, kept), TAPER_OK);
    cuda_model_set_machine(m);
    assert_int_equal(d->memory->free_bytes(d, &room), TAPER_OK);
    for (m.bytes -= room; !runs[2]; m.bytes += 25 << 10) {
        cuda_model_set_machine(m);
        taper_status status = learn(1, d, streamed);
        runs[status == TAPER_OK ? 1 + !*said : 0]++;
        if (status == TAPER_OK) assert_memory_equal(kept, streamed, sizeof kept);
        if (status != TAPER_OK) assert_int_equal(status, TAPER_ERR_NOMEM);
    }
    assert_true(runs[0] && runs[1]);
    m.bytes = 0;
    cuda_model_set_machine(m);
    data.pixels = pixels, data.n = N, batch = 25;
}

/* Whichever allocation fails: an error, or the rows were streamed instead, and nothing else is
 * different. */
static void every_allocation_may_fail(void **state) {
    (void)state;
    static float kept[NUMBERS], streamed[NUMBERS];
    one_order();
    for (int learner = 0; learner < 2; learner++) {
        uint64_t allocations, launches, k, instead = 0;
        cuda_model_fail(0, 0);
        assert_int_equal(learn(learner, &device[3].device, kept), TAPER_OK);
        cuda_model_count(&allocations, &launches);
        for (k = 1; k <= allocations; k++) {
            cuda_model_fail(k, 0);
            taper_status status = learn(learner, &device[3].device, streamed);
            if (status != TAPER_OK) assert_int_equal(status, TAPER_ERR_NOMEM);
            if (status != TAPER_OK) continue;
            instead++;
            assert_memory_equal(kept, streamed, sizeof kept);
        }
        assert_int_equal(instead, learner ? 1 : 2); /* dense: in both stages */
        cuda_model_fail(0, 0);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streamed_rows_train_the_same_network),
        cmocka_unit_test(beside_others_rows_wait_for_room),
#if defined(EVERY_DEVICE_KERNELS) && !defined(EVERY_DEVICE_GPU)
        cmocka_unit_test(rows_are_sent_beside_the_step_before),
        cmocka_unit_test(a_small_device_streams),
        cmocka_unit_test(every_allocation_may_fail),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, close_every_device);
}
