/* sweep_cost.c -- see sweep_cost.h. */
#include "bench/paper/sweep_cost.h"
#include "bench/bench.h"
#include "train/sampling/philox.h"
#include <stdlib.h>

enum { REPEATS = 15, ROWS = 1000 };

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Truncations as a sweep that has frozen so many would draw them; returns the longest. */
static uint32_t draw(const paper_network *network, uint32_t frozen, size_t rows, uint32_t *kept) {
    enum { STREAM = 1 << 21 };
    uint32_t longest = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t word[4];
        train_philox(1, i, STREAM + frozen, word);
        kept[i] =
            train_truncation_draw(&network->truncation, frozen, train_philox_uniform(word[0]));
        longest = kept[i] > longest ? kept[i] : longest;
    }
    return longest;
}

static double seconds_of_step(paper_network *network, const train_nested_data *rows,
                              const train_nested_step *step, uint32_t frozen) {
    train_nested_network *net = &network->net;
    train_nested_loss loss;
    train_fed fed;
    net->frozen = frozen;
    double start = bench_now();
    figures_check(
        train_feed_take(rows->feed, &net->stream, rows->order, rows->first, rows->n, &fed),
        "a step", NULL);
    figures_check(train_nested_zero(net), "a step", NULL);
    figures_check(
        train_nested_add(net, step, fed.rows, fed.order, rows->n, rows->n, 0, net->losses),
        "a step", NULL);
    figures_check(train_download(&net->stream, &loss, net->losses, sizeof loss), "a step", NULL);
    return bench_now() - start;
}

/* Forward takes the active units; backward the trained ones, for the decoder and, where a gradient
 * goes through thresholds, for the code and the encoder. */
static double multiply_adds(const paper_network *network, uint32_t active, uint32_t trained) {
    const train_nested_shape *s = &network->net.shape;
    int encoder = !s->binary || network->options.straight_through;
    return 1e-6 * s->inputs * (2.0 * active + trained * (encoder ? 3.0 : 1.0));
}

static void measure_at(paper_network *network, const train_nested_data *rows, uint32_t frozen,
                       uint32_t *kept, paper_sweep_cost *cost) {
    double seconds[2][REPEATS];
    size_t at = cost->n++;
    uint32_t longest = draw(network, frozen, rows->n, kept);
    train_nested_step step = {
        .seed = 1, .straight_through = network->options.straight_through, .kept = kept};
    for (int i = 0; i < REPEATS; i++) /* alternating: whatever else runs disturbs both */
        for (int left_out = 0; left_out < 2; left_out++)
            seconds[left_out][i] = seconds_of_step(network, rows, &step, left_out ? frozen : 0);
    cost->frozen[at] = frozen;
    for (int left_out = 0; left_out < 2; left_out++) {
        qsort(seconds[left_out], REPEATS, sizeof(double), by_size);
        cost->milliseconds[left_out][at] = 1e3 * seconds[left_out][REPEATS / 2];
        cost->quartile[left_out][0][at] = 1e3 * seconds[left_out][REPEATS / 4];
        cost->quartile[left_out][1][at] = 1e3 * seconds[left_out][REPEATS - 1 - REPEATS / 4];
        cost->multiply_adds[left_out][at] =
            multiply_adds(network, longest, longest - (left_out ? frozen : 0));
    }
    network->net.frozen = 0;
}

void paper_measure_sweep(paper *p, paper_network *network, paper_sweep_cost *cost) {
    train_pixels rows = paper_rows(&p->training, ROWS);
    uint32_t *kept = figures_memory(rows.n, sizeof *kept), units = network->net.units, order[ROWS];
    train_nested_source source;
    for (uint32_t i = 0; i < ROWS; i++) order[i] = i;
    figures_check(train_nested_source_open(&source, &network->net, &rows, order, rows.n), "rows",
                  NULL);
    cost->n = 0;
    for (uint32_t i = 0; i < PAPER_SWEEP_PLACES; i++)
        measure_at(network, &source.data, (uint32_t)((uint64_t)units * i * 95 / 600), kept, cost);
    train_nested_source_close(&source);
    free(kept);
}
