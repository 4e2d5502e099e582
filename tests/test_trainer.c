/* test_trainer.c -- dense training on a small curved data set, on the processor and on its shadow:
 * it gains on PCA, repeats, resumes after kill -9 bit for bit, ends well where memory or the device
 * fails, and reads no broken checkpoint. */
#include "train/dense/dense_start.h"
#include "train/dense/dense_trainer.h"
#include "train/processor/processor.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { SIDE = 8, D = SIDE * SIDE, K = 12, N = 700 };

static uint8_t pixels[N * D];
static codec_network start; /* principal components of `pixels` */
static codec_backend be;
static train_device devices[2], *device = &devices[0]; /* processor, shadow; the one in use */
static char folder[64], checkpoint[96];

/* Blobs of one size anywhere on the tile: a curved surface of two dimensions that PCA needs many
 * units for. */
static void draw_blobs(void) {
    for (uint64_t n = 0; n < N; n++) {
        uint32_t w[4];
        train_philox(1, n, 800, w);
        float cx = 1.0f + 6.0f * train_philox_uniform(w[0]),
              cy = 1.0f + 6.0f * train_philox_uniform(w[1]);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                float r2 = ((float)x - cx) * ((float)x - cx) + ((float)y - cy) * ((float)y - cy);
                pixels[n * D + (size_t)(y * SIDE + x)] =
                    (uint8_t)(230.0f * expf(-r2 / 5.0f) + 10.0f);
            }
    }
}

/* The first K eigenvectors of the covariance by orthogonal iteration. */
static void principal_components(codec_network *net) {
    static double covariance[D][D], q[K][D], z[K][D];
    for (int i = 0; i < D; i++) {
        double sum = 0.0;
        for (size_t n = 0; n < N; n++) sum += pixels[n * D + (size_t)i];
        net->mean[i] = (float)(sum / N);
    }
    for (size_t n = 0; n < N; n++)
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++)
                covariance[i][j] += ((double)pixels[n * D + (size_t)i] - net->mean[i]) *
                                    ((double)pixels[n * D + (size_t)j] - net->mean[j]) / N;
    for (int k = 0; k < K; k++)
        for (int i = 0; i < D; i++) q[k][i] = sin(1.0 + 3.7 * k * D + 1.3 * i * (k + 1));
    for (int round = 0; round < 60; round++)
        for (int k = 0; k < K; k++) {
            for (int i = 0; i < D; i++) {
                z[k][i] = 0.0;
                for (int j = 0; j < D; j++) z[k][i] += covariance[i][j] * q[k][j];
            }
            double norm = 0.0;
            for (int l = 0; l < k; l++) {
                double dot = 0.0;
                for (int i = 0; i < D; i++) dot += z[k][i] * q[l][i];
                for (int i = 0; i < D; i++) z[k][i] -= dot * q[l][i];
            }
            for (int i = 0; i < D; i++) norm += z[k][i] * z[k][i];
            for (int i = 0; i < D; i++) q[k][i] = z[k][i] / sqrt(norm);
        }
    for (int k = 0; k < K; k++)
        for (int i = 0; i < D; i++)
            net->analysis[k * D + i] = net->synthesis[k * D + i] = (float)q[k][i];
}

static void fresh(codec_network *net, int tied) {
    static const uint32_t hidden[] = {48};
    assert_int_equal(codec_network_alloc(net, D, K, tied, hidden, 1, hidden, 1), TAPER_OK);
    memcpy(net->mean, start.mean, D * sizeof(float));
    memcpy(net->analysis, start.analysis, K * D * sizeof(float));
    if (!tied) memcpy(net->synthesis, start.synthesis, K * D * sizeof(float));
}

static int set_up(void **state) {
    (void)state;
    codec_backend_cpu(&be);
    if (train_processor_open(&devices[0], &be, TRAIN_PROCESSOR) != TAPER_OK ||
        train_processor_open(&devices[1], &be, TRAIN_SHADOW) != TAPER_OK)
        return -1;
    draw_blobs();
    if (codec_network_alloc(&start, D, K, CODEC_UNTIED, NULL, 0, NULL, 0) != TAPER_OK) return -1;
    principal_components(&start);
    snprintf(folder, sizeof folder, "/tmp/taper-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(checkpoint, sizeof checkpoint, "%s/run.checkpoint", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    codec_network_free(&start);
    for (int i = 0; i < 2; i++) train_processor_close(&devices[i]);
    codec_backend_close(&be);
    unlink(checkpoint);
    return rmdir(folder);
}

static train_dense_options quick(uint32_t epochs) {
    train_dense_options o = train_dense_defaults();
    o.epochs = epochs;
    o.batch = 50;
    o.rate = 3e-3f;
    o.psnr_high = 32.0;
    o.seed = 5;
    return o;
}

static const train_pixels data = {.pixels = pixels, .n = N, .inputs = D};

/* All weights of a network, one after another, for comparing runs. */
static size_t flatten(const codec_network *net, float *to) {
    size_t at = 0;
    const codec_stack *stacks[2] = {&net->encoder, &net->decoder};
    memcpy(to + at, net->analysis, K * D * sizeof *to), at += K * D;
    memcpy(to + at, net->synthesis, K * D * sizeof *to), at += K * D;
    for (int s = 0; s < 2; s++)
        for (uint32_t l = 0; l < stacks[s]->depth; l++) {
            const codec_layer *layer = &stacks[s]->layer[l];
            size_t n = (size_t)layer->inputs * layer->outputs;
            memcpy(to + at, layer->weight, n * sizeof *to), at += n;
            memcpy(to + at, layer->bias, layer->outputs * sizeof *to), at += layer->outputs;
        }
    return at;
}

enum { WEIGHTS = 2 * K * D + 2 * (48 * (D + K) + 48) + K + D };

static void run(const train_dense_options *o, const train_callbacks *callbacks, float *weights,
                train_result *result) {
    codec_network net;
    taper_error error = {0};
    fresh(&net, 0);
    if (train_dense(o, &data, device, &net, callbacks, result, &error) != TAPER_OK)
        fail_msg("%s", error.text);
    assert_int_equal(flatten(&net, weights), WEIGHTS);
    codec_network_free(&net);
}

/* The same on both devices, to the bit. */
static void run_on_both(const train_dense_options *o, const train_callbacks *callbacks,
                        float *weights, train_result *result) {
    static float other[WEIGHTS];
    train_result there;
    run(o, callbacks, weights, result);
    device = &devices[1];
    run(o, NULL, other, &there);
    device = &devices[0];
    assert_memory_equal(weights, other, sizeof other);
    assert_memory_equal(&result->best_loss, &there.best_loss, sizeof there.best_loss);
}

static void training_gains_on_its_start(void **state) {
    (void)state;
    train_dense_options o = quick(25);
    train_result result;
    static float weights[WEIGHTS];
    run_on_both(&o, NULL, weights, &result);
    printf("validation loss %.3f -> %.3f, thresholds %.1f to %.1f\n", result.start_loss,
           result.best_loss, (double)result.threshold_low, (double)result.threshold_high);
    assert_true(result.best_loss < 0.9 * result.start_loss);
    assert_false(result.best_is_start);
    assert_int_equal(result.epochs, 25);
}

/* A rate at which nothing can be learned: what comes back is the linear start, untouched. */
static void a_bad_run_returns_its_start(void **state) {
    (void)state;
    train_dense_options o = quick(2);
    o.rate = 1.0f;
    o.max_norm = 0.0f;
    codec_network net;
    train_result result;
    fresh(&net, 0);
    assert_int_equal(train_dense(&o, &data, device, &net, NULL, &result, NULL), TAPER_OK);
    assert_true(result.best_is_start);
    float image[D], codes[K], plain[K];
    for (int i = 0; i < D; i++) image[i] = pixels[i];
    assert_memory_equal(net.analysis, start.analysis, K * D * sizeof(float));
    assert_int_equal(codec_network_encode(&net, &be, image, 1, codes), TAPER_OK);
    assert_int_equal(codec_network_encode(&start, &be, image, 1, plain), TAPER_OK);
    for (int u = 0; u < K; u++) assert_true(codes[u] == plain[u]);
    codec_network_free(&net);
}

/* --- divergence ------------------------------------------------------------------------- */

/* A backend whose matrix products give NaN from the `sound`th on. */
static taper_status (*true_gemm)(codec_backend *, int, int, size_t, size_t, size_t, const float *,
                                 const float *, float, float *);
static long sound;

static taper_status failing_gemm(codec_backend *b, int transpose_a, int transpose_b, size_t m,
                                 size_t n, size_t k, const float *x, const float *y, float beta,
                                 float *to) {
    TAPER_TRY(true_gemm(b, transpose_a, transpose_b, m, n, k, x, y, beta, to));
    if (sound-- <= 0) to[0] = NAN;
    return TAPER_OK;
}

typedef struct divergence {
    char words[800];
    uint64_t steps;
    uint32_t epochs;
} divergence;

static int count_step(void *user, const train_progress *p) {
    ((divergence *)user)->steps = p->step;
    return 0;
}

static void count_epoch(void *user, uint32_t epoch, const train_dense_epoch *entry,
                        double seconds) {
    (void)entry, (void)seconds;
    ((divergence *)user)->epochs = epoch;
}

static void keep_words(void *user, const char *words) {
    snprintf(((divergence *)user)->words, 800, "%s", words);
}

/* The run ends in the step that fails, says so, and loses neither network nor checkpoint; the
 * shadow finds it later, and has taken no other step. */
static void divergence_stops_and_keeps_the_best(void **state) {
    (void)state;
    static float before[WEIGHTS], after[WEIGHTS], unbroken[WEIGHTS];
    train_dense_options o = quick(3);
    train_result result;
    run(&o, NULL, unbroken, &result);
    o.saving.path = checkpoint;
    codec_backend_ops ops = *be.ops;
    const codec_backend_ops *true_ops = be.ops;
    true_gemm = ops.gemm;
    ops.gemm = failing_gemm;
    for (int i = 0; i < 2; i++) {
        divergence seen = {.steps = 0};
        train_callbacks callbacks = {&seen, count_step, count_epoch, keep_words, NULL};
        device = &devices[i];
        be.ops = &ops;
        sound = 400;
        o.saving.resume = 0;
        run(&o, &callbacks, before, &result);
        be.ops = true_ops;
        assert_true(result.diverged > 13 && result.epochs >= 1); /* 13 steps an epoch */
        assert_int_equal(seen.steps, result.diverged - 1);
        assert_int_equal(seen.epochs, result.epochs);
        char step[40];
        snprintf(step, sizeof step, "in step %llu of 39", (unsigned long long)result.diverged);
        assert_non_null(strstr(seen.words, step));
        assert_non_null(strstr(seen.words, checkpoint));
        snprintf(step, sizeof step, "after step %u,", 13 * result.epochs);
        assert_non_null(strstr(seen.words, step));
        for (size_t w = 0; w < WEIGHTS; w++) assert_true(isfinite(before[w]));
        o.saving.resume = 1; /* sound this time: the checkpoint is good, and the run ends */
        run(&o, NULL, after, &result);
        assert_true(!result.diverged && result.epochs == 3 && !result.best_is_start);
        assert_memory_equal(after, unbroken, sizeof after);
        unlink(checkpoint);
    }
    device = &devices[0];
}

/* --- memory and devices that fail ------------------------------------------------------- */

/* A run that fails, with a sentence; the network is its start. */
static taper_status failing_run(const train_dense_options *o) {
    codec_network net;
    taper_error error = {0};
    fresh(&net, 0);
    taper_status status = train_dense(o, &data, device, &net, NULL, NULL, &error);
    assert_true(status == TAPER_OK || strlen(error.text) > 0);
    assert_memory_equal(net.analysis, start.analysis, K * D * sizeof(float));
    codec_network_free(&net);
    return status;
}

/* But for that of the rows, which are streamed then (test_feed.c). */
static void every_device_allocation_may_fail(void **state) {
    (void)state;
    static float weights[WEIGHTS];
    train_dense_options o = quick(1);
    train_result result;
    uint64_t allocations, operations, streamed = 0;
    o.jitter = 0.5f;
    o.width = o.height = SIDE;
    device = &devices[1];
    train_processor_fail(device, 0, 0);
    run(&o, NULL, weights, &result);
    train_processor_count(device, &allocations, &operations);
    assert_true(allocations >= 5);
    for (uint64_t k = 1; k <= allocations; k++) {
        train_processor_fail(device, k, 0);
        taper_status status = failing_run(&o);
        if (status == TAPER_OK)
            streamed++;
        else
            assert_int_equal(status, TAPER_ERR_NOMEM);
    }
    assert_int_equal(streamed, 1);
    train_processor_fail(device, 0, 0);
    device = &devices[0];
}

/* The device is lost at operation k, for every k of a short run; the checkpoint it has left by then
 * leads to the same network. */
static void a_lost_device_loses_nothing(void **state) {
    (void)state;
    static float unbroken[WEIGHTS], resumed[WEIGHTS];
    train_dense_options o = quick(1);
    train_result result;
    uint64_t allocations, operations;
    o.batch = 200; /* three steps */
    o.saving.path = checkpoint;
    o.checkpoint_seconds = 0.0; /* after every step */
    train_processor_fail(device, 0, 0);
    run(&o, NULL, unbroken, &result);
    train_processor_count(device, &allocations, &operations);
    unlink(checkpoint);
    assert_true(operations > 100);
    uint64_t at_checkpoint = 0;
    for (uint64_t k = 1; k <= operations; k++) {
        o.saving.resume = 0;
        train_processor_fail(device, 0, k);
        assert_int_equal(failing_run(&o), TAPER_ERR_DEVICE);
        train_processor_fail(device, 0, 0);
        struct stat there;
        if (stat(checkpoint, &there) != 0 || k % 7) continue;
        at_checkpoint++;
        o.saving.resume = 1;
        run(&o, NULL, resumed, &result);
        assert_memory_equal(unbroken, resumed, sizeof unbroken);
        unlink(checkpoint);
    }
    assert_true(at_checkpoint > 5);
    unlink(checkpoint);
}

static void runs_repeat_for_any_number_of_threads(void **state) {
    (void)state;
    static float one[WEIGHTS], three[WEIGHTS], other[WEIGHTS];
    train_dense_options o = quick(2);
    train_result result;
    o.truncated_fraction = 0.5f;
    o.jitter = 0.5f;
    o.width = o.height = SIDE;
    run_on_both(&o, NULL, one, &result);
    assert_int_equal(codec_backend_set_threads(&be, 3), TAPER_OK);
    run_on_both(&o, NULL, three, &result);
    assert_int_equal(codec_backend_set_threads(&be, 1), TAPER_OK);
    assert_memory_equal(one, three, sizeof one);
    o.seed++;
    run(&o, NULL, other, &result);
    assert_memory_not_equal(one, other, sizeof one);
}

typedef struct watch {
    uint64_t stop_at, kill_at;
    uint32_t epochs;
    double last;
} watch;

static int on_step(void *user, const train_progress *p) {
    watch *w = user;
    assert_true(p->step <= p->steps && p->epoch >= 1 && p->epoch <= p->epochs && isfinite(p->loss));
    if (w->kill_at && p->step == w->kill_at) raise(SIGKILL);
    return w->stop_at && p->step == w->stop_at;
}

static void on_epoch(void *user, uint32_t epoch, const train_dense_epoch *entry, double seconds) {
    watch *w = user;
    assert_int_equal(epoch, w->epochs + 1);
    assert_true(seconds >= 0.0);
    w->epochs = epoch;
    w->last = entry->validation_loss;
}

static void resumed_run_equals_unbroken(void **state) {
    (void)state;
    static float unbroken[WEIGHTS], resumed[WEIGHTS];
    train_dense_options o = quick(5);
    o.jitter = 0.4f;
    o.width = o.height = SIDE;
    train_result result, again;
    watch whole = {0};
    run(&o, &(train_callbacks){&whole, on_step, on_epoch, NULL, NULL}, unbroken, &result);
    o.saving.path = checkpoint;
    o.saving.resume = 1;          /* no file yet: starts afresh */
    for (int i = 0; i < 3; i++) { /* each device, and from one to the other */
        watch first = {.stop_at = 31}, second = {.stop_at = 45}, third = {0};
        device = &devices[i == 1];
        run(&o, &(train_callbacks){&first, on_step, on_epoch, NULL, NULL}, resumed,
            &again); /* in the middle of an epoch */
        assert_int_equal(again.stopped, 1);
        device = &devices[i > 0];
        run(&o, &(train_callbacks){&second, on_step, on_epoch, NULL, NULL}, resumed, &again);
        run(&o, &(train_callbacks){&third, on_step, on_epoch, NULL, NULL}, resumed, &again);
        assert_int_equal(again.stopped, 0);
        assert_int_equal(third.epochs, 5); /* the learning curve is whole */
        assert_true(third.last == whole.last && again.best_loss == result.best_loss);
        assert_memory_equal(unbroken, resumed, sizeof unbroken);
        unlink(checkpoint);
    }
    device = &devices[0];
}

static void run_survives_kill(void **state) {
    (void)state;
    static float unbroken[WEIGHTS], resumed[WEIGHTS];
    train_dense_options o = quick(3);
    train_result result;
    watch whole = {0};
    run(&o, &(train_callbacks){&whole, on_step, on_epoch, NULL, NULL}, unbroken, &result);
    o.saving.path = checkpoint;
    o.saving.resume = 1;
    o.checkpoint_seconds = 0.0; /* after every step */
    for (uint64_t at = 8; at < 30; at += 9) {
        device = &devices[at % 2];
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            watch killed = {.kill_at = at};
            train_callbacks callbacks = {&killed, on_step, on_epoch, NULL, NULL};
            codec_network net;
            fresh(&net, 0);
            train_dense(&o, &data, device, &net, &callbacks, NULL, NULL);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    device = &devices[0];
    watch last = {0};
    run(&o, &(train_callbacks){&last, on_step, on_epoch, NULL, NULL}, resumed, &result);
    assert_memory_equal(unbroken, resumed, sizeof unbroken);
    unlink(checkpoint);
}

/* --- checkpoint files ------------------------------------------------------------------------- */

static size_t read_all(const char *path, uint8_t *to, size_t room) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(to, 1, room, f);
    fclose(f);
    return n;
}

static void write_all(const char *path, const uint8_t *from, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(from, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void broken_checkpoints_are_refused(void **state) {
    (void)state;
    float a[3] = {1, 2, 3}, b[3] = {4, 5, NAN}, r[3], *there;
    double e[2] = {6, 7}, f[2];
    train_stream stream;
    void *memory;
    assert_int_equal(train_stream_open(&stream, &devices[1]), TAPER_OK);
    assert_int_equal(devices[1].memory->alloc(&devices[1], sizeof b, &memory), TAPER_OK);
    there = memory;
    assert_int_equal(train_upload(&stream, there, b, sizeof b), TAPER_OK);
    train_history history[2] = {{{1, 2, 3, 4}, {5, 6, 7, 8}}, {{6, 7, 8, 9}, {10, 11, 12, 13}}};
    train_checkpoint_part part[3] = {
        {a, 3, sizeof *a, 0, 0}, {there, 3, sizeof *there, 1, 0}, {e, 2, sizeof *e, 0, 0}};
    train_checkpoint out = {.fingerprint = 99,
                            .step = 12,
                            .stale_epochs = 1,
                            .best_loss = 0.25,
                            .start_loss = 0.5,
                            .sum = {1, 2, 3, 50},
                            .history = history,
                            .n_history = 2,
                            .part = part,
                            .parts = 3,
                            .stream = &stream};
    assert_int_equal(train_checkpoint_write(checkpoint, &out, NULL, NULL), TAPER_OK);
    assert_int_equal(train_zero(&stream, there, sizeof b), TAPER_OK);
    train_checkpoint_part to[3] = {
        {r, 3, sizeof *r, 0, 0}, {there, 3, sizeof *there, 1, 0}, {f, 2, sizeof *f, 0, 0}};
    train_checkpoint in = {.fingerprint = 99, .part = to, .parts = 3, .stream = &stream};
    assert_int_equal(train_checkpoint_read(checkpoint, &in, NULL), TAPER_OK);
    assert_true(in.step == 12 && in.stale_epochs == 1 && in.best_loss == 0.25 &&
                in.start_loss == 0.5 && in.n_history == 2 && in.sum[3] == 50);
    assert_true(in.history[1].figure[3] == 13.0 && r[2] == 3.0f && f[1] == 7.0);
    assert_int_equal(train_download(&stream, r, there, sizeof r), TAPER_OK);
    assert_true(r[0] == 4.0f && isnan(r[2]));
    free(in.history);

    uint8_t bytes[1024];
    taper_error error;
    size_t size = read_all(checkpoint, bytes, sizeof bytes);
    for (size_t cut = 0; cut < size; cut++) {
        write_all(checkpoint, bytes, cut);
        assert_int_not_equal(train_checkpoint_read(checkpoint, &in, &error), TAPER_OK);
        assert_null(in.history);
        assert_true(strlen(error.text) > 0);
    }
    for (size_t bit = 0; bit < size * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        write_all(checkpoint, bytes, size);
        assert_int_not_equal(train_checkpoint_read(checkpoint, &in, &error), TAPER_OK);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    bytes[size] = 0;
    write_all(checkpoint, bytes, size + 1);
    assert_int_equal(train_checkpoint_read(checkpoint, &in, &error), TAPER_ERR_CORRUPT);
    write_all(checkpoint, bytes, size);
    in.fingerprint = 100;
    assert_int_equal(train_checkpoint_read(checkpoint, &in, &error), TAPER_ERR_ARG);
    in.fingerprint = 99;
    to[2].n = 1; /* another shape */
    assert_int_equal(train_checkpoint_read(checkpoint, &in, &error), TAPER_ERR_CORRUPT);
    unlink(checkpoint);
    devices[1].memory->release(&devices[1], memory, sizeof b);
    train_stream_close(&stream);
}

static void other_runs_are_not_resumed(void **state) {
    (void)state;
    static float weights[WEIGHTS];
    train_dense_options o = quick(1);
    train_result result;
    codec_network net;
    taper_error error;
    o.saving.path = checkpoint;
    o.saving.resume = 1;
    o.width = o.height = SIDE;
    run(&o, NULL, weights, &result);
    for (int i = 0; i < 2; i++) {
        o.lambda = i ? quick(1).lambda : 2.0f * o.lambda;
        o.jitter = i ? 0.5f : 0.0f;
        fresh(&net, 0);
        assert_int_equal(train_dense(&o, &data, device, &net, NULL, &result, &error),
                         TAPER_ERR_ARG);
        assert_non_null(strstr(error.text, "other options"));
        assert_memory_equal(net.analysis, start.analysis, K * D * sizeof(float));
        codec_network_free(&net);
    }
    unlink(checkpoint);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    codec_network net;
    fresh(&net, 0);
    for (int i = 0; i < 11; i++) {
        train_dense_options o = quick(1);
        train_pixels rows = data;
        if (i == 0) o.epochs = 0;
        if (i == 1) o.batch = 0;
        if (i == 2) o.rate = NAN;
        if (i == 3) o.truncated_fraction = 1.5f;
        if (i == 4) o.psnr_low = 40.0, o.psnr_high = 30.0;
        if (i == 5) rows.n = 1;
        if (i == 6) rows.inputs = D - 1;
        if (i == 7) o.balance = NAN;
        if (i >= 8) o.width = SIDE, o.height = SIDE - (i == 9), o.jitter = 0.5f;
        if (i == 8) o.jitter = 1.5f;
        if (i == 10) o.width = 0;
        taper_error error = {0};
        assert_int_equal(train_dense(&o, &rows, device, &net, NULL, NULL, &error), TAPER_ERR_ARG);
        assert_true(strlen(error.text) > 0);
    }
    codec_network_free(&net);
}

/* --- the second stage ------------------------------------------------------------------------- */

/* A coarse dead-zone quantiser whose reconstruction is too small by a third: the decoder can make
 * up for it. */
static taper_status shrink(void *user, const float *codes, size_t n, uint32_t units,
                           const train_requantise_draw *draw, float *dequantised) {
    (void)user, (void)draw;
    for (size_t i = 0; i < n * units; i++) dequantised[i] = 0.66f * 20.0f * rintf(codes[i] / 20.0f);
    return TAPER_OK;
}

static taper_status refuse(void *user, const float *codes, size_t n, uint32_t units,
                           const train_requantise_draw *draw, float *dequantised) {
    (void)user, (void)codes, (void)n, (void)units, (void)draw, (void)dequantised;
    return TAPER_ERR_NOMEM;
}

static void decoder_learns_what_it_is_given(void **state) {
    (void)state;
    codec_network net;
    train_result result;
    train_dense_options o = quick(6);
    fresh(&net, 0);
    train_initialise_stacks(&net, 3);
    assert_int_equal(train_dense_decoder(&o, &data, device, &net,
                                         &(train_requantiser){shrink, NULL}, NULL, &result, NULL),
                     TAPER_OK);
    assert_true(result.best_loss < result.start_loss - 0.3);
    assert_memory_equal(net.analysis, start.analysis,
                        K * D * sizeof(float)); /* the encoder stays */
    codec_network_free(&net);
    fresh(&net, 0);
    assert_int_equal(train_dense_decoder(&o, &data, device, &net,
                                         &(train_requantiser){refuse, NULL}, NULL, &result, NULL),
                     TAPER_ERR_NOMEM);
    codec_network_free(&net);
    fresh(&net, 1);
    assert_int_equal(train_dense_decoder(&o, &data, device, &net,
                                         &(train_requantiser){shrink, NULL}, NULL, &result, NULL),
                     TAPER_ERR_ARG);
    codec_network_free(&net);
}

static void tied_networks_train_too(void **state) {
    (void)state;
    codec_network net;
    train_result result;
    train_dense_options o = quick(5);
    fresh(&net, 1);
    assert_int_equal(train_dense(&o, &data, device, &net, NULL, &result, NULL), TAPER_OK);
    assert_true(result.best_loss < result.start_loss);
    assert_ptr_equal(net.analysis, net.synthesis);
    codec_network_free(&net);
}

static void thresholds_follow_quality(void **state) {
    (void)state;
    train_start measured;
    train_stream stream;
    assert_int_equal(train_stream_open(&stream, device), TAPER_OK);
    assert_int_equal(train_start_measure(&measured, &start, &stream, &data, 500), TAPER_OK);
    train_stream_close(&stream);
    float last = 1e9f;
    for (double psnr = 10.0; psnr < 60.0; psnr += 5.0) {
        float t = train_threshold_for_psnr(&measured, D, K, psnr);
        assert_true(t <= last && t >= 0.99f);
        last = t;
    }
    assert_true(measured.scale > 1.0f && train_psnr_without_code(&measured, D, K) > 5.0);
    train_start_free(&measured);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_gains_on_its_start),
        cmocka_unit_test(a_bad_run_returns_its_start),
        cmocka_unit_test(divergence_stops_and_keeps_the_best),
        cmocka_unit_test(every_device_allocation_may_fail),
        cmocka_unit_test(a_lost_device_loses_nothing),
        cmocka_unit_test(runs_repeat_for_any_number_of_threads),
        cmocka_unit_test(resumed_run_equals_unbroken),
        cmocka_unit_test(run_survives_kill),
        cmocka_unit_test(broken_checkpoints_are_refused),
        cmocka_unit_test(other_runs_are_not_resumed),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(decoder_learns_what_it_is_given),
        cmocka_unit_test(tied_networks_train_too),
        cmocka_unit_test(thresholds_follow_quality),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
