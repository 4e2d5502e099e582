/* factors.h -- arrays that products read, where a device takes products of bfloat16: how they are
 * kept, as train_keep (train/device/device.h) has asked for.
 *   TRAIN_FACTORS   the array holds bfloat16 from its first byte on, and nothing else. Number i is
 *                   still meant by array + i, as if it were single precision.
 *   TRAIN_WEIGHTS   single precision, and a copy in bfloat16. An operation that writes to some of
 *                   the array makes that of the copy old, unless it writes to both (CUDA_BOTH); the
 *                   next product that reads what is old makes it anew.
 * What an operation does with each of its arrays is said at its beginning (stream.h), and looked at
 * there: factors that it does not expect end it. On the execution model every product compares the
 * copy that it reads with the array. */
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
    uint16_t *rounded; /* where it is in bfloat16: at its own place, or the copy's */
    size_t old, end;   /* of a copy, numbers old .. end - 1 are not what the array has */
};

/* A device's. */
struct cuda_keeper {
    std::mutex lock;
    std::vector<cuda_kept> arrays;
};
cuda_keeper *cuda_keeper_of(const train_device *device);

/* The device's function of that name (train_memory), and what it has kept in memory that is to be
 * released: forgotten. */
taper_status cuda_keep(train_device *device, train_keeping how, float *array, size_t n);
void cuda_keep_no_more(train_device *device, const void *memory, size_t bytes);

/* An operation begins that has this array. *bytes: what it reads or writes there. false: the array
 * has factors, and the operation cannot take them. */
bool cuda_meets(train_device *device, const cuda_array *array, size_t *bytes);

/* at[n] in bfloat16, for a product: as it is kept, or rounded by a pass into room of the stream's,
 * of which there are three, `which` 0 to 2. TAPER_ERR_NOMEM. */
taper_status cuda_factor(train_stream *s, int which, const float *at, size_t n,
                         const uint16_t **factor);
void cuda_factors_free(train_stream *s); /* that room */

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
/* The copy of weights at w, for an operation that writes to both; NULL: there is none. */
uint16_t *cuda_copy_at(const train_stream *s, const float *w);

#endif
