/* test_labelling.c -- labels for images that have none: the graph of neighbours, labels that spread
 * along it, what a teacher makes of them; the same on any number of threads; what cannot be learned
 * from is refused in words. */
#include "on_device.h"
#include "train/embedding/drawn_start.h"
#include "train/labelling/label_spreading.h"
#include "train/labelling/labelling.h"
#include "train/sampling/philox.h"
#include <math.h>

enum { N = 600, SIDE = 8, INPUTS = SIDE * SIDE, CLASSES = 3, FEW = 4 };
static uint8_t pixels[N * INPUTS];
static uint32_t truth[N], label[N];
static train_pixels data = {.pixels = pixels, .n = N, .inputs = INPUTS, .label = label};

static uint32_t draw(uint64_t i, uint64_t stream, uint32_t below) {
    uint32_t word[4];
    train_philox(5, i, stream, word);
    return word[0] % below;
}

/* Blots around a place that each class has, under noise; the first FEW of each class show it. */
static void fill(void) {
    static const int place[CLASSES][2] = {{2, 2}, {5, 2}, {3, 5}};
    uint32_t shown[CLASSES] = {0};
    for (size_t n = 0; n < N; n++) {
        const uint32_t c = truth[n] = (uint32_t)(n % CLASSES);
        const int x = place[c][0] + (int)draw(n, 1, 2), y = place[c][1] + (int)draw(n, 2, 2);
        for (int i = 0; i < INPUTS; i++) {
            const int away = abs(i % SIDE - x) + abs(i / SIDE - y);
            pixels[n * INPUTS + (size_t)i] = (uint8_t)((away < 3 ? 200 - 60 * away : 20) +
                                                       (int)draw(n * INPUTS + (size_t)i, 3, 50));
        }
        label[n] = shown[c]++ < FEW ? c : UINT32_MAX;
    }
}

/* --- the graph ------------------------------------------------------------------------------ */

static train_neighbour_graph graph_of(const train_pixels *rows, unsigned threads) {
    train_neighbour_graph g;
    taper_error error = {0};
    on_device d;
    on_device_open_threads(&d, TRAIN_PROCESSOR, threads);
    if (train_neighbour_graph_make(&g, rows, &d.be, &d.device, threads, &error) != TAPER_OK)
        fail_msg("%s", error.text);
    on_device_close(&d);
    return g;
}

static float weight_between(const train_neighbour_graph *g, size_t i, size_t j) {
    for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
        if (g->to[e] == j) return g->weight[e];
    return -1.0f;
}

static void edges_are_there_from_both_ends(void **state) {
    (void)state;
    train_neighbour_graph g = graph_of(&data, 1), h = graph_of(&data, 3);
    size_t alike = 0;
    assert_int_equal(g.n, N);
    for (size_t i = 0; i < N; i++) {
        assert_true(g.first[i + 1] - g.first[i] >= TRAIN_GRAPH_NEIGHBOURS);
        for (size_t e = g.first[i]; e < g.first[i + 1]; e++) {
            assert_true(g.to[e] < N && g.to[e] != i && g.weight[e] > 0.0f && g.weight[e] <= 1.0f);
            assert_float_equal(weight_between(&g, g.to[e], i), g.weight[e], 1e-7);
            alike += truth[g.to[e]] == truth[i];
        }
    }
    assert_true(alike > 9 * g.first[N] / 10);
    assert_memory_equal(g.first, h.first, (N + 1) * sizeof *g.first);
    assert_memory_equal(g.to, h.to, g.first[N] * sizeof *g.to);
    assert_memory_equal(g.weight, h.weight, g.first[N] * sizeof *g.weight);
    train_neighbour_graph_free(&g);
    train_neighbour_graph_free(&h);
}

/* Copies have distance 0; of two images one is the other's neighbour. */
static void copies_are_neighbours(void **state) {
    (void)state;
    static uint8_t same[20 * INPUTS];
    for (size_t i = 0; i < 20; i++)
        memcpy(same + i * INPUTS, pixels + (i < 10 ? 0 : 1) * INPUTS, INPUTS);
    for (size_t n = 2; n <= 20; n += 18) {
        const train_pixels rows = {.pixels = same, .n = n, .inputs = INPUTS};
        if (n == 2) memcpy(same + INPUTS, pixels + INPUTS, INPUTS);
        train_neighbour_graph g = graph_of(&rows, 1);
        for (size_t e = 0; e < g.first[n]; e++)
            assert_true(isfinite(g.weight[e]) && g.weight[e] >= 0.0f && g.to[e] < n);
        train_neighbour_graph_free(&g);
        memcpy(same + INPUTS, pixels, INPUTS);
    }
}

/* --- labels along it ------------------------------------------------------------------------ */

enum { SMALL = 30 };

/* F = (1 - 0.99 S)^-1 Y by as many rounds of F = 0.99 S F + Y as it takes. */
static void spread_plainly(const train_neighbour_graph *g, double f[SMALL][CLASSES]) {
    memset(f, 0, SMALL * sizeof *f);
    for (int round = 0; round < 5000; round++) {
        double next[SMALL][CLASSES];
        for (size_t i = 0; i < SMALL; i++)
            for (uint32_t c = 0; c < CLASSES; c++) {
                next[i][c] = label[i] == c;
                for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
                    next[i][c] += 0.99 * (double)g->weight[e] * f[g->to[e]][c];
            }
        memcpy(f, next, sizeof next);
    }
}

static void labels_spread_as_defined(void **state) {
    (void)state;
    train_pixels rows = data;
    double f[SMALL][CLASSES];
    uint32_t guess[SMALL];
    float sure[SMALL];
    rows.n = SMALL;
    train_neighbour_graph g = graph_of(&rows, 1);
    spread_plainly(&g, f);
    assert_int_equal(train_spread_labels(&g, label, CLASSES, guess, sure), TAPER_OK);
    for (size_t i = 0; i < SMALL; i++) {
        uint32_t best = 0;
        double sum = 0.0;
        for (uint32_t c = 0; c < CLASSES; c++) {
            sum += f[i][c];
            if (f[i][c] > f[i][best]) best = c;
        }
        const int known = label[i] < CLASSES;
        assert_int_equal(guess[i], known ? label[i] : best);
        assert_float_equal(sure[i], known ? 1.0 : f[i][best] / sum, 1e-3);
    }
    train_neighbour_graph_free(&g);
}

/* An image that no labelled one is joined to. */
static void what_cannot_be_reached_has_no_guess(void **state) {
    (void)state;
    size_t first[] = {0, 1, 2, 3, 4};
    uint32_t to[] = {1, 0, 3, 2}, guess[4];
    float weight[] = {1, 1, 1, 1}, sure[4];
    const uint32_t known[] = {1, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const train_neighbour_graph g = {4, first, to, weight};
    assert_int_equal(train_spread_labels(&g, known, 2, guess, sure), TAPER_OK);
    assert_true(guess[0] == 1 && guess[1] == 1 && sure[1] == 1.0f);
    assert_true(guess[2] == UINT32_MAX && guess[3] == UINT32_MAX && sure[2] == 0.0f);
}

/* --- what the teacher makes of them ----------------------------------------------------------- */

static train_labelling_options usual(void) {
    static const uint32_t hidden[] = {24, 16};
    train_labelling_options o = train_labelling_defaults();
    o.hidden = hidden, o.n_hidden = 2, o.classes = CLASSES, o.threads = 1, o.teaching.epochs = 12;
    return o;
}

typedef struct lesson {
    uint64_t stop_at, steps;
} lesson;
static int on_step(void *user, uint64_t step, uint64_t steps, double loss, double left) {
    lesson *l = user;
    assert_true(isfinite(loss) && left >= 0.0);
    l->steps = steps;
    return l->stop_at && step >= l->stop_at;
}

static size_t guess_wrong(const train_labelling_options *o, unsigned threads,
                          train_processor_kind kind, uint32_t *guess) {
    lesson l = {0};
    const train_teaching_callbacks callbacks = {&l, on_step, NULL};
    codec_network net = {0};
    taper_error error = {0};
    on_device d;
    int stopped;
    on_device_open_threads(&d, kind, threads);
    train_labelling_options watched = *o;
    watched.callbacks = &callbacks;
    if (train_labelling(&watched, &data, &d.be, &d.device, &net, guess, &stopped, &error))
        fail_msg("%s", error.text);
    assert_int_equal(l.steps, 2 * o->teaching.epochs);
    size_t wrong = 0;
    for (size_t i = 0; i < N; i++) wrong += guess[i] != truth[i];
    codec_network_free(&net);
    on_device_close(&d);
    return wrong;
}

static void few_labels_name_all(void **state) {
    (void)state;
    static uint32_t guess[N], again[N];
    train_labelling_options o = usual();
    o.teaching.epochs = 120;
    const size_t wrong = guess_wrong(&o, 1, TRAIN_PROCESSOR, guess);
    print_message("%zu of %d wrong by %d labels\n", wrong, N, FEW * CLASSES);
    assert_true(wrong <= N / 50);
    assert_int_equal(guess_wrong(&o, 3, TRAIN_PROCESSOR, again), wrong);
    assert_memory_equal(guess, again, sizeof guess);
    o.teaching.epochs = 3;
    guess_wrong(&o, 1, TRAIN_PROCESSOR, guess), guess_wrong(&o, 1, TRAIN_SHADOW, again);
    assert_memory_equal(guess, again, sizeof guess);
    o.teaching.epochs = 120,
    o.teaching.reach = 0.0f; /* by labels alone, of which most are guesses */
    assert_true(guess_wrong(&o, 1, TRAIN_PROCESSOR, guess) <= N / 20);
    o.teaching.reach = usual().teaching.reach;
    o.surest = 0.0f; /* without neighbours' guesses it has less to go by */
    o.teaching.epochs = 120;
    print_message("%zu without neighbours\n", guess_wrong(&o, 1, TRAIN_PROCESSOR, guess));
}

/* A label that is known is not guessed, be it wrong. */
static void what_is_known_stays(void **state) {
    (void)state;
    static uint32_t guess[N];
    const train_labelling_options o = usual();
    label[0] = 1;
    guess_wrong(&o, 1, TRAIN_PROCESSOR, guess);
    assert_int_equal(guess[0], 1);
    label[0] = truth[0];
}

/* Of images that are all alike 12 are known to be of class 0, 588 are guessed to be of class 1:
 * each has half of a step's labels, so the teacher cannot tell. */
static void what_is_known_is_half(void **state) {
    (void)state;
    static uint8_t blank[N * INPUTS], guessed[N];
    static const uint32_t hidden[] = {8};
    uint32_t two[N];
    for (size_t i = 0; i < N; i++) two[i] = guessed[i] = i >= 12;
    const train_pixels rows = {
        .pixels = blank, .n = N, .inputs = INPUTS, .label = two, .guessed = guessed};
    train_teaching_options o = train_teaching_defaults();
    o.reach = 0.0f, o.epochs = 150, o.rate = 0.03f;
    codec_network net = {0};
    taper_error error = {0};
    on_device d;
    int stopped;
    float image[INPUTS] = {0}, logit[CLASSES];
    on_device_open(&d, TRAIN_PROCESSOR);
    assert_int_equal(codec_network_alloc(&net, INPUTS, CLASSES, CODEC_ENCODER, hidden, 1, NULL, 0),
                     TAPER_OK);
    train_drawn_start(&net, 1);
    if (train_teaching(&o, &rows, &d.device, &net, NULL, &stopped, &error) != TAPER_OK)
        fail_msg("%s", error.text);
    assert_int_equal(codec_network_encode(&net, &d.be, image, 1, logit), TAPER_OK);
    assert_true(fabsf(logit[0] - logit[1]) < 0.3f);
    assert_true(logit[0] - logit[2] > 1.0f);
    codec_network_free(&net);
    on_device_close(&d);
}

/* --- bad input ------------------------------------------------------------------------------ */

static void refused(const train_labelling_options *o, const train_pixels *rows, const char *words) {
    codec_network net = {0};
    taper_error error = {0};
    on_device d;
    int stopped;
    static uint32_t guess[N];
    on_device_open(&d, TRAIN_PROCESSOR);
    assert_int_equal(train_labelling(o, rows, &d.be, &d.device, &net, guess, &stopped, &error),
                     TAPER_ERR_ARG);
    if (!strstr(error.text, words)) fail_msg("'%s' for '%s'", error.text, words);
    codec_network_free(&net);
    on_device_close(&d);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    static uint32_t none[N];
    train_labelling_options o = usual();
    train_pixels rows = data;
    o.n_hidden = 0;
    refused(&o, &rows, "hidden layers");
    o = usual(), o.teaching.rate = NAN;
    refused(&o, &rows, "rate");
    o = usual(), o.teaching.reach = -1.0f;
    refused(&o, &rows, "reach");
    o = usual();
    for (size_t i = 0; i < N; i++) none[i] = UINT32_MAX;
    rows.label = none;
    refused(&o, &rows, "0 images are labelled");
    rows = data, rows.n = 1;
    refused(&o, &rows, "2 or more");
    o.teaching.rate = 1e30f;
    refused(&o, &data, "diverged");
}

/* Stopped, it has taught nothing. */
static void it_stops_when_asked(void **state) {
    (void)state;
    lesson l = {.stop_at = 3};
    const train_teaching_callbacks callbacks = {&l, on_step, NULL};
    train_labelling_options o = usual();
    static uint32_t guess[N];
    codec_network net = {0};
    taper_error error = {0};
    on_device d;
    int stopped = 0;
    o.callbacks = &callbacks;
    on_device_open(&d, TRAIN_PROCESSOR);
    memset(guess, 0xee, sizeof guess);
    assert_int_equal(train_labelling(&o, &data, &d.be, &d.device, &net, guess, &stopped, &error),
                     TAPER_OK);
    assert_true(stopped && guess[0] == 0xeeeeeeee && guess[N - 1] == 0xeeeeeeee);
    codec_network_free(&net);
    on_device_close(&d);
}

/* Memory that is not there, a device that is lost: the status says which. */
static void what_fails_is_told(void **state) {
    (void)state;
    train_labelling_options o = usual();
    static uint32_t guess[N];
    size_t failed[2] = {0};
    o.teaching.epochs = 1;
    for (int device = 0; device < 2; device++)
        for (uint64_t at = 1, more = 1; more; at += at < 8 ? 1 : at / 2) {
            codec_network net = {0};
            taper_error error = {0};
            on_device d;
            int stopped;
            on_device_open(&d, TRAIN_SHADOW);
            train_processor_fail(&d.device, device ? 0 : at, device ? at : 0);
            const taper_status status =
                train_labelling(&o, &data, &d.be, &d.device, &net, guess, &stopped, &error);
            more = status != TAPER_OK;
            failed[device] += more;
            assert_true(!more || status == (device ? TAPER_ERR_DEVICE : TAPER_ERR_NOMEM));
            assert_true(!more || error.text[0]);
            codec_network_free(&net);
            train_processor_fail(&d.device, 0, 0);
            on_device_close(&d);
        }
    assert_true(failed[0] > 3 && failed[1] > 10);
}

static int set_up(void **state) {
    (void)state;
    fill();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_there_from_both_ends),
        cmocka_unit_test(copies_are_neighbours),
        cmocka_unit_test(labels_spread_as_defined),
        cmocka_unit_test(what_cannot_be_reached_has_no_guess),
        cmocka_unit_test(few_labels_name_all),
        cmocka_unit_test(what_is_known_stays),
        cmocka_unit_test(what_is_known_is_half),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(it_stops_when_asked),
        cmocka_unit_test(what_fails_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
