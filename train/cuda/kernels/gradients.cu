/* gradients.cu -- gradient orientations of windows. See train/device/operations.h. */
#include "codec/transform/gradient_votes.h"
#include "train/cuda/kernel.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"

static const unsigned THREADS = 128;

/* The pixels along a side that may have a part in cell `at`: those nearer than a cell. */
struct span {
    uint32_t first, end;
};

static __device__ span span_of(uint32_t at, uint32_t n, uint32_t cells) {
    const uint32_t first = at ? (2 * at - 1) * n / (2 * cells) : 0;
    const uint32_t end = (2 * at + 3) * n / (2 * cells) + 1;
    return {first, end < n ? end : n};
}

/* The weight of pixel i for cell `at`. */
static __device__ uint32_t weight_for(uint32_t at, uint32_t i, uint32_t n, uint32_t cells) {
    const codec_gradient_place place = codec_gradient_place_of(i, n, cells);
    return place.cell == (int32_t)at + 1 ? place.weight[0]
           : place.cell == (int32_t)at   ? place.weight[1]
                                         : 0;
}

/* Sums over the pixels of cell (x, y), with their weights: what they vote for orientation `of`, or
 * from CODEC_GRADIENT_SIGNED on the samples of a channel. A thread has one sum: arrays of sums
 * would not be in registers. */
struct cell_sum {
    uint64_t values, weights;
};

static __device__ uint64_t value_at(codec_window w, const uint8_t *pixels, uint32_t i, uint32_t j,
                                    uint32_t of) {
    if (of >= CODEC_GRADIENT_SIGNED)
        return pixels[((size_t)(of - CODEC_GRADIENT_SIGNED) * w.height + j) * w.width + i];
    uint32_t vote[2];
    const uint32_t first = codec_gradient_vote(codec_gradient_at(w, pixels, i, j), vote);
    const uint32_t second = first + 1 < CODEC_GRADIENT_SIGNED ? first + 1 : 0;
    return of == first ? vote[0] : of == second ? vote[1] : 0;
}

static __device__ cell_sum sum_cell(const train_gradients &g, const uint8_t *pixels, uint32_t x,
                                    uint32_t y, uint32_t of) {
    const codec_window w = g.window;
    const span columns = span_of(x, w.width, g.cells.across);
    const span rows = span_of(y, w.height, g.cells.down);
    cell_sum sum = {0, 0};
    for (uint32_t j = rows.first; j < rows.end; j++)
        for (uint32_t i = columns.first; i < columns.end; i++) {
            const uint32_t weight = weight_for(x, i, w.width, g.cells.across) *
                                    weight_for(y, j, w.height, g.cells.down);
            if (!weight) continue;
            sum.values += weight * value_at(w, pixels, i, j, of);
            sum.weights += weight;
        }
    return sum;
}

/* The gains of the four blocks that have cell (x, y), from the votes of the window. */
static __device__ void take_gains(codec_cells c, const uint32_t *votes, uint32_t x, uint32_t y,
                                  uint64_t gain[4]) {
    FOUR_AT_A_TIME /* so that the gains are in registers */
        for (int b = 0; b < 4; b++) {
        const uint32_t x2 = codec_gradient_beside(x, c.across, b % 2);
        const uint32_t y2 = codec_gradient_beside(y, c.down, b / 2);
        uint64_t energy = 0;
        for (int k = 0; k < 4; k++) {
            const size_t cell = (size_t)(k / 2 ? y2 : y) * c.across + (k % 2 ? x2 : x);
            energy += codec_gradient_energy(votes + cell * CODEC_GRADIENT_SIGNED);
        }
        gain[b] = codec_gradient_gain(energy);
    }
}

/* A block for each window: first a thread for each sum, then one for each cell. */
static __global__ void gradients_kernel(train_gradients g) {
    const size_t cells = (size_t)g.cells.across * g.cells.down;
    const size_t values = (size_t)g.window.width * g.window.height * g.window.channels;
    const size_t count = cells * (CODEC_GRADIENT_PLANES + g.window.channels);
    for (EACH_BLOCK(row, g.rows)) {
        const uint8_t *pixels = g.pixels + (g.order ? g.order[row] : row) * values;
        uint32_t *votes = g.votes + row * cells * CODEC_GRADIENT_SIGNED;
        uint8_t *to = g.to + row * count;
        for (EACH_IN_BLOCK(i, cells * (CODEC_GRADIENT_SIGNED + g.window.channels))) {
            const uint32_t cell = (uint32_t)(i % cells), of = (uint32_t)(i / cells);
            const cell_sum sum =
                sum_cell(g, pixels, cell % g.cells.across, cell / g.cells.across, of);
            if (of < CODEC_GRADIENT_SIGNED)
                votes[(size_t)cell * CODEC_GRADIENT_SIGNED + of] =
                    codec_gradient_mean_votes(g.window, g.cells, sum.values);
            else
                to[(CODEC_GRADIENT_PLANES + of - CODEC_GRADIENT_SIGNED) * cells + cell] =
                    (uint8_t)((sum.values + sum.weights / 2) / sum.weights);
        }
        BARRIER();
        for (EACH_IN_BLOCK(i, cells)) {
            uint64_t gain[4];
            take_gains(g.cells, votes, (uint32_t)(i % g.cells.across),
                       (uint32_t)(i / g.cells.across), gain);
            codec_gradient_values(votes + i * CODEC_GRADIENT_SIGNED, gain, cells, to + i);
        }
    }
}

taper_status train_cuda_gradients(train_stream *s, const train_gradients *g) {
    const size_t cells = (size_t)g->cells.across * g->cells.down,
                 values = codec_window_values(g->window);
    if (!g->rows) return TAPER_OK;
    CUDA_BEGIN(s, "gradients", cuda_picked(g->pixels, g->order, g->rows, values),
               CUDA_ARRAY(g->order, g->rows),
               CUDA_ARRAY(g->votes, g->rows * cells * CODEC_GRADIENT_SIGNED),
               CUDA_ARRAY(g->to, g->rows * cells * (CODEC_GRADIENT_PLANES + g->window.channels)));
    LAUNCH(gradients_kernel, cuda_blocks(g->rows, 1), THREADS, cuda_on(s), *g);
    return cuda_end(s, "gradients");
}
