/* gradients.cu -- gradient orientations of windows. See train/device/operations.h. */
#include "codec/transform/gradient_votes.h"
#include "train/cuda/kernel.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"

static const unsigned THREADS = 64;

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

/* Mean votes of cell (x, y), and its colours in to[][cells]. */
static __device__ void sum_cell(const train_gradients &g, const uint8_t *pixels, uint32_t x,
                                uint32_t y, uint32_t *votes, uint8_t *to) {
    const codec_window w = g.window;
    const codec_cells c = g.cells;
    const span columns = span_of(x, w.width, c.across), rows = span_of(y, w.height, c.down);
    const size_t plane = (size_t)w.width * w.height;
    uint64_t sum[CODEC_GRADIENT_SIGNED + 3] = {}, weights = 0;
    for (uint32_t j = rows.first; j < rows.end; j++)
        for (uint32_t i = columns.first; i < columns.end; i++) {
            const uint32_t weight =
                weight_for(x, i, w.width, c.across) * weight_for(y, j, w.height, c.down);
            uint32_t vote[2];
            const uint32_t first = codec_gradient_vote(codec_gradient_at(w, pixels, i, j), vote);
            sum[first] += (uint64_t)weight * vote[0];
            sum[first + 1 < CODEC_GRADIENT_SIGNED ? first + 1 : 0] += (uint64_t)weight * vote[1];
            for (uint32_t k = 0; k < w.channels; k++)
                sum[CODEC_GRADIENT_SIGNED + k] +=
                    (uint64_t)weight * pixels[k * plane + (size_t)j * w.width + i];
            weights += weight;
        }
    for (int k = 0; k < CODEC_GRADIENT_SIGNED; k++)
        votes[k] = codec_gradient_mean_votes(w, c, sum[k]);
    for (uint32_t k = 0; k < w.channels; k++, to += (size_t)c.across * c.down)
        *to = (uint8_t)((sum[CODEC_GRADIENT_SIGNED + k] + weights / 2) / weights);
}

/* The gains of the four blocks that have cell (x, y), from the votes of the window. */
static __device__ void take_gains(codec_cells c, const uint32_t *votes, uint32_t x, uint32_t y,
                                  uint64_t gain[4]) {
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

/* A block for each window, a thread for each cell: first all votes, then the values. */
static __global__ void gradients_kernel(train_gradients g) {
    const size_t cells = (size_t)g.cells.across * g.cells.down;
    const size_t values = (size_t)g.window.width * g.window.height * g.window.channels;
    const size_t count = cells * (CODEC_GRADIENT_PLANES + g.window.channels);
    for (EACH_BLOCK(row, g.rows)) {
        const uint8_t *pixels = g.pixels + (g.order ? g.order[row] : row) * values;
        uint32_t *votes = g.votes + row * cells * CODEC_GRADIENT_SIGNED;
        uint8_t *to = g.to + row * count;
        for (EACH_IN_BLOCK(i, cells))
            sum_cell(g, pixels, (uint32_t)(i % g.cells.across), (uint32_t)(i / g.cells.across),
                     votes + i * CODEC_GRADIENT_SIGNED, to + CODEC_GRADIENT_PLANES * cells + i);
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
