/* noise.cu -- corrupted inputs, dropout, normal noise, stochastic units; see
 * train/device/operations.h and train/sampling/corruption.h.
 *
 * A lane computes a block of Philox, which is for several adjacent elements. Lanes then exchange
 * words, so that adjacent lanes access adjacent elements. */
#include "train/cuda/factors.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements.h"

static const unsigned THREADS = 256, ALL = 0xffffffffu;

/* The numbers of rows that noise is for, if they are listed. */
static cuda_array positions(const train_noise &noise, size_t rows) {
    return CUDA_ARRAY(noise.position ? noise.position + noise.first_row : NULL, rows);
}

/* --- zeroing --------------------------------------------------------------------------- */

/* elements of a row that a warp processes at a time: one block of Philox for each lane */
static const size_t ZEROS = CUDA_WARP * TRAIN_ZERO_BLOCK;

/* Bit k is 1 if element k of the block is kept. */
static __device__ unsigned kept_of_block(const train_noise *noise, uint64_t stream,
                                         uint32_t dropped, size_t row, size_t block) {
    uint32_t word[4];
    unsigned kept = 0;
    train_noise_words(noise, stream, row, block, word);
    for (unsigned k = 0; k < TRAIN_ZERO_BLOCK; k++)
        kept |= train_is_kept(word[k / 2], k % 2, dropped) << k;
    return kept;
}

/* How elements are read, and written with the knowledge whether they are kept: those of a hidden
 * layer, in place, ... */
struct layer_elements {
    size_t width;
    float scale;
    cuda_numbers x;
    __device__ float read(size_t row, size_t j) const { return x.get(row * width + j) * scale; }
    __device__ void write(size_t row, size_t j, float value, uint32_t is_kept) const {
        x.put(row * width + j, train_kept(value, is_kept));
    }
};

/* ... and those of inputs, from pixels. */
struct input_elements {
    train_inputs in;
    cuda_numbers corrupted;
    __device__ float read(size_t row, size_t j) const {
        const size_t from = in.order ? in.order[row] : row;
        return train_centred(in.pixels[from * in.width + j], in.mean[j], in.inverse_scale);
    }
    __device__ void write(size_t row, size_t j, float value, uint32_t is_kept) const {
        corrupted.put(row * in.width + j, train_kept(value, is_kept));
    }
};

template <typename elements>
static __global__ void zero_kernel(train_noise noise, uint64_t stream, uint32_t dropped,
                                   size_t pieces, size_t rows, size_t width, elements of) {
    const unsigned lane = threadIdx.x % CUDA_WARP;
    for (EACH_WARP(piece, rows * pieces)) {
        const size_t row = piece / pieces, first = piece % pieces * ZEROS;
        float x[TRAIN_ZERO_BLOCK];
        for (unsigned k = 0; k < TRAIN_ZERO_BLOCK; k++) { /* loads overlap with Philox */
            const size_t j = first + k * CUDA_WARP + lane;
            x[k] = BELOW(j, width) ? of.read(row, j) : 0.0f;
        }
        const unsigned kept =
            kept_of_block(&noise, stream, dropped, row, first / TRAIN_ZERO_BLOCK + lane);
        for (unsigned k = 0; k < TRAIN_ZERO_BLOCK && first + k * CUDA_WARP < width; k++) {
            const size_t j = first + k * CUDA_WARP + lane;
            const unsigned drawn = __shfl_sync(ALL, kept, (int)((k * CUDA_WARP + lane) / 8));
            if (BELOW(j, width)) of.write(row, j, x[k], drawn >> lane % 8 & 1);
        }
    }
}

template <typename elements>
static void zero(train_stream *s, const train_noise *noise, uint64_t stream, uint32_t dropped,
                 size_t rows, size_t width, const elements &of) {
    const size_t pieces = (width + ZEROS - 1) / ZEROS;
    LAUNCH(zero_kernel<elements>, cuda_blocks(rows * pieces, THREADS / CUDA_WARP), THREADS,
           cuda_on(s), *noise, stream, dropped, pieces, rows, width, of);
}

taper_status train_cuda_corrupt(train_stream *s, const train_corruption *c) {
    const train_inputs *in = &c->inputs;
    const size_t rows = in->rows, width = in->width;
    if (!rows || !width) return TAPER_OK;
    CUDA_BEGIN(s, "corrupt", cuda_picked(in->pixels, in->order, rows, width),
               CUDA_ARRAY(in->order, rows), CUDA_ARRAY(in->mean, width),
               CUDA_NUMBERS(c->corrupted, rows * width), positions(c->noise, rows));
    const input_elements inputs = {*in, cuda_numbers_at(s, c->corrupted)};
    zero(s, &c->noise, TRAIN_STREAM_CORRUPT, train_dropped(c->p), rows, width, inputs);
    return cuda_end(s, "corrupt");
}

taper_status train_cuda_dropout(train_stream *s, const train_noise *noise, uint32_t layer, float p,
                                size_t rows, size_t width, float *x) {
    const uint32_t dropped = train_dropped(p);
    if (!rows || !width || !dropped) return TAPER_OK;
    CUDA_BEGIN(s, "dropout", CUDA_NUMBERS(x, rows * width), positions(*noise, rows));
    const layer_elements values = {width, train_dropout_scale(dropped), cuda_numbers_at(s, x)};
    zero(s, noise, TRAIN_DROPOUT_STREAM(layer), dropped, rows, width, values);
    return cuda_end(s, "dropout");
}

/* --- normal noise ---------------------------------------------------------------------- */

static const size_t NORMALS = CUDA_WARP * TRAIN_NORMAL_BLOCK;

static __device__ void normals_of_block(const train_noise *noise, size_t row, size_t block,
                                        float deviation, float e[TRAIN_NORMAL_BLOCK]) {
    uint32_t word[4];
    train_noise_words(noise, TRAIN_STREAM_PERTURB, row, block, word);
    for (unsigned k = 0; k < TRAIN_NORMAL_BLOCK; k += 2)
        train_normal_pair(train_normal_radius(train_normal_square(word[k])), word[k + 1], e + k);
    for (unsigned k = 0; k < TRAIN_NORMAL_BLOCK; k++) e[k] *= deviation;
}

/* e[which] of lane `from`; `which` may differ between lanes. */
static __device__ float normal_of_lane(const float e[TRAIN_NORMAL_BLOCK], unsigned which,
                                       unsigned from) {
    float got = 0.0f;
    for (unsigned k = 0; k < TRAIN_NORMAL_BLOCK; k++) {
        const float of_lane = __shfl_sync(ALL, e[k], (int)from);
        if (k == which) got = of_lane;
    }
    return got;
}

/* A block for each row. */
static __global__ void perturb_kernel(train_noise noise, float deviation, size_t rows, size_t width,
                                      cuda_numbers x, cuda_numbers y,
                                      double *__restrict__ squares) {
    SHARED(double, warps, CUDA_WARP);
    const unsigned lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    for (EACH_BLOCK(row, rows)) {
        double square = 0.0;
        for (size_t at = warp * NORMALS; at < width; at += blockDim.x / CUDA_WARP * NORMALS) {
            float e[TRAIN_NORMAL_BLOCK], part = 0.0f;
            normals_of_block(&noise, row, at / TRAIN_NORMAL_BLOCK + lane, deviation, e);
            for (unsigned k = 0; k < TRAIN_NORMAL_BLOCK && at + k * CUDA_WARP < width; k++) {
                const unsigned i = k * CUDA_WARP + lane;
                const float added =
                    normal_of_lane(e, i % TRAIN_NORMAL_BLOCK, i / TRAIN_NORMAL_BLOCK);
                if (BELOW(at + i, width)) {
                    const size_t j = row * width + at + i;
                    y.put(j, x.get(j) + added);
                    part += added * added;
                }
            }
            square += part;
        }
        square = block_sum(square, warps);
        if (threadIdx.x == 0) squares[row] = square;
    }
}

taper_status train_cuda_perturb(train_stream *s, const train_noise *noise, double variance,
                                size_t rows, size_t width, const float *x, float *y,
                                double *squares) {
    const size_t warps = (width + NORMALS - 1) / NORMALS, most = THREADS / CUDA_WARP;
    const size_t threads = (warps < 1 ? 1 : warps < most ? warps : most) * CUDA_WARP;
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "perturb", CUDA_NUMBERS(x, rows * width), CUDA_NUMBERS(y, rows * width),
               CUDA_ARRAY(squares, rows), positions(*noise, rows));
    LAUNCH(perturb_kernel, cuda_blocks(rows, 1), threads, cuda_on(s), *noise, (float)sqrt(variance),
           rows, width, cuda_numbers_at(s, x), cuda_numbers_at(s, y), squares);
    return cuda_end(s, "perturb");
}

/* --- states ---------------------------------------------------------------------------- */

static __device__ void draws_of_block(const train_noise *noise, train_states states, size_t row,
                                      size_t block, float drawn[TRAIN_NORMAL_BLOCK]) {
    uint32_t word[4];
    train_noise_words(noise, TRAIN_STREAM_STATES, row, block, word);
    for (unsigned k = 0; k < TRAIN_NORMAL_BLOCK; k++) drawn[k] = train_philox_uniform(word[k]);
    if (states == TRAIN_BERNOULLI) return;
    for (unsigned k = 0; k < TRAIN_NORMAL_BLOCK; k += 2)
        train_normal_pair(train_normal_radius(train_normal_square(word[k])), word[k + 1],
                          drawn + k);
}

static __global__ void sample_kernel(train_noise noise, train_states states, size_t pieces,
                                     size_t rows, size_t width, cuda_numbers mean,
                                     cuda_numbers to) {
    const unsigned lane = threadIdx.x % CUDA_WARP;
    for (EACH_WARP(piece, rows * pieces)) {
        const size_t row = piece / pieces, first = piece % pieces * NORMALS;
        float drawn[TRAIN_NORMAL_BLOCK];
        draws_of_block(&noise, states, row, first / TRAIN_NORMAL_BLOCK + lane, drawn);
        for (unsigned k = 0; k < TRAIN_NORMAL_BLOCK && first + k * CUDA_WARP < width; k++) {
            const unsigned i = k * CUDA_WARP + lane;
            const float its = normal_of_lane(drawn, i % TRAIN_NORMAL_BLOCK, i / TRAIN_NORMAL_BLOCK);
            if (BELOW(first + i, width)) {
                const size_t j = row * width + first + i;
                to.put(j, train_state(states, mean.get(j), its));
            }
        }
    }
}

taper_status train_cuda_sample(train_stream *s, const train_noise *noise, train_states states,
                               size_t rows, size_t width, const float *mean, float *to) {
    const size_t pieces = (width + NORMALS - 1) / NORMALS;
    if (!rows || !width) return TAPER_OK;
    CUDA_BEGIN(s, "sample", CUDA_NUMBERS(mean, rows * width), CUDA_NUMBERS(to, rows * width),
               positions(*noise, rows));
    LAUNCH(sample_kernel, cuda_blocks(rows * pieces, THREADS / CUDA_WARP), THREADS, cuda_on(s),
           *noise, states, pieces, rows, width, cuda_numbers_at(s, mean), cuda_numbers_at(s, to));
    return cuda_end(s, "sample");
}
