/* factors.h -- arrays that products read, on a device with bfloat16 products. They are kept as
 * train_keep (train/device/device.h) requested.
 *   TRAIN_FACTORS   the array contains bfloat16 from its first byte on. Number i is still addressed
 *                   as array + i, as if it were single precision.
 *   TRAIN_WEIGHTS   single precision, and a copy in bfloat16. An operation that writes to a part of
 *                   the array marks that part of the copy as out of date, unless it writes to both
 *                   (CUDA_BOTH). The next product that reads that part updates it.
 * Each operation declares at its beginning how it uses its arrays (stream.h). If it does not take
 * factors but an array has them, it fails. On the execution model every product checks that its
 * copy agrees with the array. */
#ifndef TRAIN_CUDA_FACTORS_H
#define TRAIN_CUDA_FACTORS_H
#include "train/cuda/stream.h"
#include "train/device/elements.h"
#include <mutex>
#include <new>
#include <vector>

struct cuda_kept {
    train_keeping how;
    const float *array;
    size_t n;
    /* The bfloat16 numbers: the array itself, or the copy. */
    uint16_t *rounded;
    /* Of a copy: numbers old .. end - 1 are out of date. */
    size_t old, end;
};

/* A device's. */
struct cuda_keeper {
    std::mutex lock;
    std::vector<cuda_kept> arrays;
};
cuda_keeper *cuda_keeper_of(const train_device *device);

/* train_memory.keep of the device; and the removal of what is kept in memory to be released. */
taper_status cuda_keep(train_device *device, train_keeping how, float *array, size_t n);
void cuda_forget_kept(train_device *device, const void *memory, size_t bytes);

/* Checks an array of an operation that begins. *bytes: what it reads or writes there. Returns
 * false if the array has factors and the operation does not take them. */
bool cuda_check_array(train_device *device, const cuda_array *array, size_t *bytes);

/* at[n] in bfloat16, for a product: as kept, or rounded into one of three buffers of the stream,
 * `which` 0 to 2. TAPER_ERR_NOMEM. */
taper_status cuda_factor(train_stream *s, int which, const float *at, size_t n,
                         const uint16_t **factor);
void cuda_factors_free(train_stream *s); /* frees these buffers */

/* --- numbers of kernels ------------------------------------------------------------------ */

/* An array of single precision, or of factors (CUDA_EITHER). */
struct cuda_numbers {
    float *single;
    uint16_t *factor; /* or NULL */
    __device__ float get(size_t i) const {
        return factor ? train_from_bfloat16(factor[i]) : single[i];
    }
    __device__ void put(size_t i, float x) const {
        if (factor)
            factor[i] = train_to_bfloat16(x);
        else
            single[i] = x;
    }
};
cuda_numbers cuda_numbers_at(const train_stream *s, const float *at);
/* The bfloat16 copy of weights at w, for an operation that writes to both; NULL: there is none. */
uint16_t *cuda_copy_at(const train_stream *s, const float *w);

#endif
