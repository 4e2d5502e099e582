/* convolution.cu -- convolutional layers with pooling. See train/device/operations.h. */
#include "codec/transform/convolution.h"
#include "train/cuda/kernel.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"

static const unsigned THREADS = 256;

/* A channel of a place of a row of a map. */
struct map_place {
    size_t row;
    uint32_t x, y, channel;
};
/* Element i of [rows][places][channels]. */
static __device__ map_place place_of(size_t i, uint32_t width, size_t places, uint32_t channels) {
    const uint32_t at = (uint32_t)(i / channels % places);
    map_place p = {i / channels / places, at % width, at / width, (uint32_t)(i % channels)};
    return p;
}
/* The same of a map that may be planar. */
static __device__ map_place value_place(codec_map m, size_t i) {
    const size_t places = codec_map_places(m);
    if (!m.planar) return place_of(i, m.width, places, m.channels);
    const uint32_t at = (uint32_t)(i % places);
    map_place p = {i / places / m.channels, at % m.width, at / m.width,
                   (uint32_t)(i / places % m.channels)};
    return p;
}

/* --- patches --------------------------------------------------------------------------- */

/* The value of a tap at place (x, y), 0 outside of the map. */
static __device__ float tap_of(codec_map m, const float *from, const map_place &p, uint32_t tap) {
    const uint32_t x = p.x + tap % 3, y = p.y + tap / 3; /* 1 too large */
    if (!x || !y || x > m.width || y > m.height) return 0.0f;
    const size_t at = (size_t)(y - 1) * m.width + (x - 1);
    const float *row = from + p.row * codec_map_values(m);
    return m.planar ? row[p.channel * codec_map_places(m) + at] : row[at * m.channels + p.channel];
}

static __global__ void patches_kernel(codec_map m, size_t n, const float *__restrict__ from,
                                      float *__restrict__ to) {
    for (EACH(i, n)) {
        const uint32_t taps = CODEC_MAP_TAPS, tap = (uint32_t)(i / m.channels % taps);
        const size_t value = i / m.channels / taps * m.channels + i % m.channels;
        to[i] = tap_of(m, from, place_of(value, m.width, codec_map_places(m), m.channels), tap);
    }
}

taper_status train_cuda_patches(train_stream *s, codec_map map, size_t rows, const float *from,
                                float *to) {
    const size_t values = rows * codec_map_values(map), n = values * CODEC_MAP_TAPS;
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "patches", CUDA_ARRAY(from, values), CUDA_ARRAY(to, n));
    LAUNCH(patches_kernel, cuda_blocks(n, THREADS), THREADS, cuda_on(s), map, n, from, to);
    return cuda_end(s, "patches");
}

static __global__ void add_patches_kernel(codec_map m, size_t n, const float *__restrict__ from,
                                          float *__restrict__ to) {
    const size_t row_of_patches = codec_map_row(m);
    for (EACH(i, n)) {
        const map_place p = value_place(m, i);
        const float *patches = from + p.row * codec_map_places(m) * row_of_patches;
        float sum = 0.0f;
        for (uint32_t tap = CODEC_MAP_TAPS; tap-- > 0;) {
            const uint32_t x = p.x + 2 - tap % 3, y = p.y + 2 - tap / 3; /* 1 too large */
            if (!x || !y || x > m.width || y > m.height) continue;
            const size_t at = (size_t)(y - 1) * m.width + (x - 1);
            sum += patches[at * row_of_patches + tap * m.channels + p.channel];
        }
        to[i] = sum;
    }
}

taper_status train_cuda_add_patches(train_stream *s, codec_map map, size_t rows, const float *from,
                                    float *to) {
    const size_t n = rows * codec_map_values(map);
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "add_patches", CUDA_ARRAY(from, n * CODEC_MAP_TAPS), CUDA_ARRAY(to, n));
    LAUNCH(add_patches_kernel, cuda_blocks(n, THREADS), THREADS, cuda_on(s), map, n, from, to);
    return cuda_end(s, "add_patches");
}

/* --- pooling --------------------------------------------------------------------------- */

static __global__ void pool_kernel(codec_map m, uint32_t channels, size_t n,
                                   const float *__restrict__ from, float *__restrict__ to,
                                   uint8_t *__restrict__ which) {
    const codec_map pooled = codec_map_pooled(m, channels);
    const uint32_t side = CODEC_POOL_SIDE;
    for (EACH(i, n)) {
        const map_place p = place_of(i, pooled.width, codec_map_places(pooled), channels);
        const float *row = from + p.row * codec_map_places(m) * channels + p.channel;
        uint32_t best = 0;
        float most = row[((size_t)side * p.y * m.width + side * p.x) * channels];
        for (uint32_t k = 1; k < side * side; k++) {
            const uint32_t x = side * p.x + k % side, y = side * p.y + k / side;
            if (x >= m.width || y >= m.height) continue;
            const float other = row[((size_t)y * m.width + x) * channels];
            if (other > most) most = other, best = k;
        }
        to[i] = most, which[i] = (uint8_t)best;
    }
}

taper_status train_cuda_pool(train_stream *s, codec_map map, uint32_t channels, size_t rows,
                             const float *from, float *to, uint8_t *which) {
    const size_t n = rows * codec_map_values(codec_map_pooled(map, channels));
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "pool", CUDA_ARRAY(from, rows * codec_map_places(map) * channels),
               CUDA_ARRAY(to, n), CUDA_ARRAY(which, n));
    LAUNCH(pool_kernel, cuda_blocks(n, THREADS), THREADS, cuda_on(s), map, channels, n, from, to,
           which);
    return cuda_end(s, "pool");
}

static __global__ void unpool_kernel(codec_map m, uint32_t channels, size_t n,
                                     const float *__restrict__ from,
                                     const uint8_t *__restrict__ which, float *__restrict__ to) {
    const codec_map pooled = codec_map_pooled(m, channels);
    const uint32_t side = CODEC_POOL_SIDE;
    for (EACH(i, n)) {
        const map_place p = place_of(i, m.width, codec_map_places(m), channels);
        const size_t at = p.row * codec_map_values(pooled) +
                          ((size_t)(p.y / side) * pooled.width + p.x / side) * channels + p.channel;
        to[i] = which[at] == p.y % side * side + p.x % side ? from[at] : 0.0f;
    }
}

taper_status train_cuda_unpool(train_stream *s, codec_map map, uint32_t channels, size_t rows,
                               const float *from, const uint8_t *which, float *to) {
    const size_t n = rows * codec_map_places(map) * channels,
                 of = rows * codec_map_values(codec_map_pooled(map, channels));
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "unpool", CUDA_ARRAY(from, of), CUDA_ARRAY(which, of), CUDA_ARRAY(to, n));
    LAUNCH(unpool_kernel, cuda_blocks(n, THREADS), THREADS, cuda_on(s), map, channels, n, from,
           which, to);
    return cuda_end(s, "unpool");
}
