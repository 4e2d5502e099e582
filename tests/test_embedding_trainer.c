/* test_embedding_trainer.c -- learning embeddings: it tells classes apart, by Adam and by conjugate
 * gradients; it repeats on any number of threads, also interrupted; and what cannot be learned from
 * is refused in words. */
#include "on_device.h"
#include "scratch.h"
#include "train/embedding/embedding_rows.h"
#include "train/embedding/embedding_trainer.h"
#include "train/sampling/philox.h"
#include <math.h>

enum { N = 600, SIDE = 8, INPUTS = SIDE * SIDE, CLASSES = 3 };
static uint8_t pixels[N * INPUTS];
static uint32_t label[N];
static train_pixels data = {.pixels = pixels, .n = N, .inputs = INPUTS, .label = label};

static uint32_t draw(uint64_t i, uint64_t stream, uint32_t below) {
    uint32_t word[4];
    train_philox(3, i, stream, word);
    return word[0] % below;
}

/* Bars: lying, standing, both; anywhere, under much noise. */
static void fill(void) {
    for (size_t n = 0; n < N; n++) {
        const uint32_t x = draw(n, 1, SIDE), y = draw(n, 2, SIDE);
        label[n] = (uint32_t)(n % CLASSES);
        for (uint32_t i = 0; i < INPUTS; i++) {
            const int on = (label[n] != 1 && i / SIDE == y) || (label[n] != 0 && i % SIDE == x);
            pixels[n * INPUTS + i] = (uint8_t)((on ? 160 : 30) + draw(n * INPUTS + i, 3, 60));
        }
    }
}

static codec_network start(uint32_t units) {
    static const uint32_t width[] = {32};
    codec_network net;
    assert_int_equal(codec_network_alloc(&net, INPUTS, units, CODEC_DIRECT, width, 1, NULL, 0),
                     TAPER_OK);
    net.hidden = CODEC_LOGISTIC;
    for (uint32_t l = 0; l < net.encoder.depth; l++) {
        codec_layer *layer = &net.encoder.layer[l];
        for (uint32_t i = 0; i < layer->outputs * layer->inputs; i++)
            layer->weight[i] = (l ? 1.0f : 0.02f) * ((float)draw(i, 10 + l, 1000) / 500.0f - 1.0f);
    }
    return net;
}

static train_embedding_options usual(void) {
    train_embedding_options o = train_embedding_defaults();
    o.objective.alpha = 1.0;
    o.epochs = 50, o.batch = 150, o.rate = 0.03f, o.validation_fraction = 0.25f, o.threads = 1;
    return o;
}

typedef struct lesson {
    train_embedding_options options;
    unsigned threads;
    uint64_t stop_at;            /* step; 0: never */
    double curve[64], alpha[64]; /* of epochs: losses, and alpha */
    char said[256];
} lesson;

static int on_step(void *user, uint64_t step, uint64_t steps, double loss, double left) {
    const lesson *l = user;
    (void)steps, (void)left, (void)loss;
    return l->stop_at && step >= l->stop_at;
}
static void on_epoch(void *user, uint32_t epoch, const train_embedding_epoch *entry) {
    lesson *l = user;
    if (epoch <= 64) l->curve[epoch - 1] = entry->loss, l->alpha[epoch - 1] = entry->alpha;
}
static void on_say(void *user, const char *words) {
    snprintf(((lesson *)user)->said, 256, "%s", words);
}

static taper_status learn(lesson *l, codec_network *net, train_embedding_result *result,
                          taper_error *error) {
    const train_embedding_callbacks callbacks = {l, on_step, on_epoch, on_say};
    on_device d;
    on_device_open_threads(&d, TRAIN_PROCESSOR, l->threads ? l->threads : 1);
    taper_status status =
        train_embedding(&l->options, &data, &d.device, net, &callbacks, result, error);
    on_device_close(&d);
    return status;
}

static void same_network(const codec_network *a, const codec_network *b) {
    for (uint32_t i = 0; i < a->encoder.depth; i++) {
        const codec_layer *p = &a->encoder.layer[i], *q = &b->encoder.layer[i];
        assert_memory_equal(p->weight, q->weight, p->outputs * p->inputs * sizeof(float));
        assert_memory_equal(p->bias, q->bias, p->outputs * sizeof(float));
    }
}

/* --- it learns ------------------------------------------------------------------------------- */

static void classes_come_apart(void **state) {
    (void)state;
    static const struct {
        train_neighbour_loss loss;
        int all_pairs, student, learns;
        train_optimiser optimiser;
    } kinds[] = {{TRAIN_NCA, 0, 1, 0, TRAIN_ADAM},     {TRAIN_NCA, 0, 1, 1, TRAIN_CG},
                 {TRAIN_MCML, 1, 1, 0, TRAIN_ADAM},    {TRAIN_MCML, 0, 0, 0, TRAIN_CG},
                 {TRAIN_LOG_NCA, 0, 0, 0, TRAIN_ADAM}, {TRAIN_NCA, 0, 1, 1, TRAIN_ADAM}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        lesson l = {.options = usual()};
        codec_network net = start(2);
        train_embedding_result r;
        taper_error error;
        l.options.objective.loss = kinds[k].loss;
        l.options.objective.all_pairs = kinds[k].all_pairs;
        l.options.objective.student = kinds[k].student;
        l.options.objective.learns_alpha = kinds[k].learns;
        l.options.optimiser = kinds[k].optimiser;
        if (kinds[k].optimiser == TRAIN_CG) l.options.epochs = 20;
        assert_int_equal(learn(&l, &net, &r, &error), TAPER_OK);
        print_message("kind %zu: %.3f, after epoch %u %.3f; alpha %.3f\n", k, r.start_error,
                      r.best_epoch, r.best_error, r.alpha);
        assert_true(r.start_error > 0.2 && r.best_error < 0.12);
        assert_true(l.curve[r.epochs - 1] < l.curve[0]);
        assert_true(r.rows == 450 && r.held_out == 150 && r.classes == CLASSES);
        assert_true((r.alpha != 1.0) == (kinds[k].learns && kinds[k].student));
        codec_network_free(&net);
    }
}

/* Codes of bits are told apart as well, and by their first half. */
static void bits_come_apart(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        lesson l = {.options = usual()};
        codec_network net = start(32);
        train_embedding_result r;
        l.options.binary = 1, l.options.epochs = 64;
        l.options.objective.alpha = 31.0;
        if (k) l.options.prefixes = train_prefix_halves(32);
        assert_int_equal(learn(&l, &net, &r, NULL), TAPER_OK);
        print_message("bits %d: %.3f, after epoch %u %.3f\n", k, r.start_error, r.best_epoch,
                      r.best_error);
        assert_true(r.start_error > 0.3 && r.best_error < 0.16);
        codec_network_free(&net);
    }
}

static void bits_are_ordered_by_halves(void **state) {
    static const struct {
        uint32_t units;
        train_prefix_list list;
    } cases[] = {{64, {{8, 16, 32, 64}, 4}},    {60, {{15, 30, 60}, 3}}, {15, {{15}, 1}},
                 {101, {{12, 25, 50, 101}, 4}}, {16, {{8, 16}, 2}},      {1, {{1}, 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const train_prefix_list p = train_prefix_halves(cases[i].units);
        assert_memory_equal(&p, &cases[i].list, sizeof p);
    }
    assert_int_equal(train_prefix_halves(65535).lengths, 13);
}

static void alpha_is_held_for_an_epoch(void **state) {
    (void)state;
    for (uint32_t epochs = 1; epochs < 3; epochs++) {
        lesson l = {.options = usual()};
        codec_network net = start(2);
        train_embedding_result r;
        l.options.objective.learns_alpha = 1, l.options.epochs = epochs;
        l.options.validation_fraction = 0.0f;
        assert_int_equal(learn(&l, &net, &r, NULL), TAPER_OK);
        assert_true((r.alpha == 1.0) == (epochs == 1));
        codec_network_free(&net);
    }
}

/* --- it repeats ------------------------------------------------------------------------------ */

static void threads_and_stops_change_nothing(void **state) {
    (void)state;
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    scratch_make(folder);
    scratch_join(path, folder, "run.ckpt");
    for (int cg = 0; cg < 2; cg++) {
        lesson l = {.options = usual(), .threads = 1};
        l.options.epochs = 4, l.options.objective.learns_alpha = 1;
        l.options.optimiser = cg ? TRAIN_CG : TRAIN_ADAM;
        codec_network once = start(2), threads = start(2), resumed = start(2);
        train_embedding_result r;
        assert_int_equal(learn(&l, &once, &r, NULL), TAPER_OK);
        l.threads = 3;
        assert_int_equal(learn(&l, &threads, &r, NULL), TAPER_OK);
        same_network(&once, &threads);
        l.options.saving = (train_saving){.path = path, .resume = 1};
        l.stop_at = 5;
        assert_int_equal(learn(&l, &resumed, &r, NULL), TAPER_OK);
        assert_int_equal(r.stopped, 1);
        codec_network_free(&resumed);
        resumed = start(2);
        l.stop_at = 0;
        assert_int_equal(learn(&l, &resumed, &r, NULL), TAPER_OK);
        same_network(&once, &resumed);
        assert_int_equal(r.epochs, 4);
        codec_network_free(&once), codec_network_free(&threads), codec_network_free(&resumed);
        remove(path);
    }
    scratch_remove(folder);
}

/* Every row is in one batch of an epoch, whatever the batch's size. */
static void batches_have_all_rows(void **state) {
    (void)state;
    for (uint32_t batch = 2; batch < 700; batch = batch * 3 / 2 + 1) {
        train_embedding_options o = usual();
        train_embedding_rows rows = {0};
        size_t next = 0;
        o.batch = batch;
        assert_int_equal(train_embedding_rows_take(&rows, &o, &data, NULL), TAPER_OK);
        for (size_t i = 0; i < rows.batches; i++) {
            size_t first, labelled, n = train_embedding_batch(&rows, i, &first, &labelled);
            assert_true(labelled == n && first == next &&
                        n <= train_embedding_largest_batch(&rows));
            assert_true(n >= batch || rows.batches == 1);
            next += n;
        }
        assert_int_equal(next, rows.n_training);
        train_embedding_rows_free(&rows);
    }
}

/* Rows without a label come once an epoch, each batch has some, and labelled ones come again. */
static void others_fill_batches(void **state) {
    (void)state;
    static uint32_t few[N];
    static const uint32_t sizes[] = {2, 7, 50, 400};
    for (size_t i = 0; i < N; i++) few[i] = i % 10 ? TRAIN_UNLABELLED : label[i];
    data.label = few;
    for (int k = 0; k < 4; k++) {
        train_embedding_options o = usual();
        train_embedding_rows rows = {0};
        uint32_t met[N] = {0};
        size_t next = 0, others = 0;
        o.batch = sizes[k], o.reconstruct = 0.1, o.validation_fraction = 0.25f;
        assert_int_equal(train_embedding_rows_take(&rows, &o, &data, NULL), TAPER_OK);
        assert_int_equal(train_embedding_rows_shuffle(&rows, 3, 2), TAPER_OK);
        for (size_t i = 0; i < rows.batches; i++) {
            size_t first, labelled, n = train_embedding_batch(&rows, i, &first, &labelled);
            assert_true(first == next && labelled && n <= train_embedding_largest_batch(&rows));
            for (size_t j = 0; j < n; j++) {
                const uint32_t row = rows.shuffled[first + j];
                assert_true((few[row] != TRAIN_UNLABELLED) == (j < labelled));
                met[row]++, others += j >= labelled;
            }
            next += n;
        }
        assert_int_equal(next, rows.epoch_rows);
        assert_int_equal(others, rows.n_others);
        assert_int_equal(rows.n_others, N - rows.n);
        for (size_t i = rows.n_training; i < rows.n; i++) assert_int_equal(met[rows.all[i]], 0);
        for (size_t i = 0; i < rows.n_training; i++) assert_true(met[rows.all[i]] > 0);
        for (size_t i = 0; i < rows.n_others; i++) assert_int_equal(met[rows.others[i]], 1);
        train_embedding_rows_free(&rows);
    }
    data.label = label;
}

/* --- what cannot be -------------------------------------------------------------------------- */

static void refuse(lesson *l, const uint32_t *labels, uint32_t units, const char *words) {
    codec_network net = start(units), before = start(units);
    taper_error error = {0};
    train_embedding_result r;
    data.label = labels;
    assert_int_equal(learn(l, &net, &r, &error), TAPER_ERR_ARG);
    if (!strstr(error.text, words)) fail_msg("\"%s\" in: %s", words, error.text);
    same_network(&net, &before);
    data.label = label;
    codec_network_free(&net), codec_network_free(&before);
}

static void bad_labels_are_told(void **state) {
    (void)state;
    static uint32_t labels[N];
    lesson l = {.options = usual()};
    refuse(&l, NULL, 2, "no image has a label");
    memset(labels, 0xff, sizeof labels);
    refuse(&l, labels, 2, "no image has a label");
    memset(labels, 0, sizeof labels);
    refuse(&l, labels, 2, "of one class");
    for (uint32_t i = 0; i < N; i++) labels[i] = i;
    refuse(&l, labels, 2, "one labelled image alone");
    labels[5] = 1u << 24;
    refuse(&l, labels, 2, "label 16777216");
    memcpy(labels, label, sizeof labels);
    for (uint32_t i = 1; i < N; i++) memcpy(pixels + i * INPUTS, pixels, INPUTS);
    refuse(&l, labels, 2, "are the same");
    fill();
    labels[4] = CLASSES; /* one member */
    l.options.validation_fraction = 0.0f, l.options.epochs = 1;
    codec_network net = start(2);
    data.label = labels;
    assert_int_equal(learn(&l, &net, NULL, NULL), TAPER_OK);
    assert_non_null(strstr(l.said, "1 of 4 classes"));
    data.label = label;
    codec_network_free(&net);
}

static void bad_options_are_told(void **state) {
    (void)state;
    for (int i = 0; i < 9; i++) {
        static const char *const words[] = {"alpha",
                                            "alpha",
                                            "hinge",
                                            "l2",
                                            "rate",
                                            "batch",
                                            "33 units must not exceed its layer of 32",
                                            "use Adam",
                                            "numbers first"};
        lesson l = {.options = usual()};
        train_embedding_options *o = &l.options;
        if (i == 0) o->objective.alpha = 0.0;
        if (i == 1) o->objective.student = 0, o->objective.learns_alpha = 1;
        if (i == 2) o->objective.hinge = NAN;
        if (i == 3) o->l2 = -1.0;
        if (i == 4) o->rate = 0.0f;
        if (i == 5) o->batch = 1;
        if (i == 7) o->binary = 1, o->optimiser = TRAIN_CG;
        if (i == 8) o->numbers_first = 1.1;
        refuse(&l, label, i == 6 ? 33 : 2, words[i]);
    }
}

/* A class of which all are held out is met, and told; one that all others are of is refused. */
static void held_out_classes_count(void **state) {
    (void)state;
    static uint32_t labels[N];
    lesson l = {.options = usual()};
    train_embedding_rows rows = {0};
    assert_int_equal(train_embedding_rows_take(&rows, &l.options, &data, NULL), TAPER_OK);
    memcpy(labels, label, sizeof labels);
    labels[rows.all[N - 1]] = CLASSES;
    codec_network net = start(2);
    train_embedding_result r;
    data.label = labels;
    l.options.epochs = 1;
    assert_int_equal(learn(&l, &net, &r, NULL), TAPER_OK);
    assert_int_equal(r.classes, CLASSES + 1);
    assert_non_null(strstr(l.said, "held-out images alone"));
    memset(labels, 0, sizeof labels);
    labels[rows.all[N - 1]] = 1;
    refuse(&l, labels, 2, "hold fewer out");
    train_embedding_rows_free(&rows);
    codec_network_free(&net);
}

/* The alpha that is told is that of the network that is kept; it grows no further than is of use.
 */
static void alpha_is_that_of_the_network(void **state) {
    (void)state;
    lesson l = {.options = usual()};
    codec_network net = start(2);
    train_embedding_result r;
    l.options.objective.learns_alpha = 1;
    assert_int_equal(learn(&l, &net, &r, NULL), TAPER_OK);
    assert_true(r.best_epoch > 0 && r.best_epoch < r.epochs);
    assert_true(r.alpha == l.alpha[r.best_epoch - 1]);
    l.options.objective.alpha = 9e5, l.options.rate = 1.0f;
    assert_int_equal(learn(&l, &net, &r, NULL), TAPER_OK);
    for (uint32_t i = 0; i < r.epochs; i++) assert_true(l.alpha[i] <= TRAIN_MOST_ALPHA);
    codec_network_free(&net);
}

/* Distances that overflow: the run ends in words, and leaves the checkpoint of before. */
/* Pixels that never change, dark or bright, say nothing and do no harm. */
static void constant_pixels_are_learned_with(void **state) {
    (void)state;
    static uint8_t kept[N * INPUTS];
    codec_network net = start(2);
    lesson l = {.options = usual()};
    train_embedding_result r;
    memcpy(kept, pixels, sizeof kept);
    for (size_t n = 0; n < N; n++)
        pixels[n * INPUTS] = 0, pixels[n * INPUTS + SIDE - 1] = pixels[(n + 1) * INPUTS - 1] = 255;
    assert_int_equal(learn(&l, &net, &r, NULL), TAPER_OK);
    assert_true(r.best_error < 0.12);
    memcpy(pixels, kept, sizeof kept);
    codec_network_free(&net);
}

/* Labels that pixels say nothing about, and codes far apart, want tails as heavy as they can be:
 * alpha falls until distances hardly count. The checkpoint is that of the epoch before. */
static void alpha_near_zero_stops_the_run(void **state) {
    (void)state;
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    uint32_t kept[N];
    codec_network net = start(2);
    lesson l = {.options = usual()};
    taper_error error = {0}, again = {0};
    scratch_make(folder);
    scratch_join(path, folder, "run.ckpt");
    memcpy(kept, label, sizeof kept);
    for (size_t n = 0; n < N; n++) label[n] = draw(n, 20, CLASSES);
    for (uint32_t i = 0; i < 2 * 32; i++) net.encoder.layer[1].weight[i] *= 1000.0f;
    l.options.objective = (train_neighbour_objective){
        .loss = TRAIN_MCML, .all_pairs = 1, .student = 1, .alpha = 0.01, .learns_alpha = 1};
    l.options.rate = 0.3f;
    l.options.saving = (train_saving){.path = path, .resume = 1};
    assert_int_equal(learn(&l, &net, NULL, &error), TAPER_ERR_ARG);
    print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, "alpha fell to"));
    assert_int_equal(scratch_count(folder), 1);
    assert_int_equal(learn(&l, &net, NULL, &again), TAPER_ERR_ARG); /* it is read, and goes on */
    assert_string_equal(again.text, error.text);
    memcpy(label, kept, sizeof kept);
    scratch_remove(folder);
    codec_network_free(&net);
}

static void divergence_is_told(void **state) {
    (void)state;
    codec_network net = start(2);
    lesson l = {.options = usual()};
    taper_error error = {0};
    net.encoder.layer[1].weight[0] = 1e38f;
    assert_int_equal(learn(&l, &net, NULL, &error), TAPER_ERR_ARG);
    print_message("%s\n", error.text);
    assert_true(strstr(error.text, "diverged") || strstr(error.text, "not finite"));
    codec_network_free(&net);
}

/* 450 rows in batches of 150 are three steps an epoch. */
static void epochs_have_enough_steps(void **state) {
    (void)state;
    static const uint32_t epochs[] = {2, 2, 2, 2, 0}, least[] = {0, 6, 7, 25, 25};
    static const uint32_t want[] = {2, 2, 3, 9, 0};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        lesson l = {.options = usual()};
        codec_network net = start(2);
        train_embedding_result r;
        l.options.epochs = epochs[i], l.options.least_steps = least[i];
        assert_int_equal(learn(&l, &net, &r, NULL), TAPER_OK);
        assert_int_equal(r.epochs, want[i]);
        assert_true(r.first_best <= r.best_epoch && r.best_epoch <= r.epochs);
        codec_network_free(&net);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_come_apart),
                                       cmocka_unit_test(bits_come_apart),
                                       cmocka_unit_test(bits_are_ordered_by_halves),
                                       cmocka_unit_test(alpha_is_held_for_an_epoch),
                                       cmocka_unit_test(threads_and_stops_change_nothing),
                                       cmocka_unit_test(batches_have_all_rows),
                                       cmocka_unit_test(others_fill_batches),
                                       cmocka_unit_test(bad_labels_are_told),
                                       cmocka_unit_test(bad_options_are_told),
                                       cmocka_unit_test(held_out_classes_count),
                                       cmocka_unit_test(alpha_is_that_of_the_network),
                                       cmocka_unit_test(constant_pixels_are_learned_with),
                                       cmocka_unit_test(alpha_near_zero_stops_the_run),
                                       cmocka_unit_test(divergence_is_told),
                                       cmocka_unit_test(epochs_have_enough_steps)};
    fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
