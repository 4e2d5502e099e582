/* stream.h -- the state of a stream, and the beginning and end of every operation. */
#ifndef TRAIN_CUDA_STREAM_H
#define TRAIN_CUDA_STREAM_H
#include "train/cuda/cuda.h"
#include "train/cuda/kernel.h"
#include <type_traits>

/* Bytes of a stream's scratch memory, for the partial sums of blocks. */
enum { CUDA_SCRATCH_BYTES = 1 << 20 };

/* Page-locked host memory from which uploads are copied while the host continues. */
enum { CUDA_SMALL_BYTES = 1 << 18 };
typedef struct cuda_staging {
    char *piece[2];
    size_t bytes[2];
    /* The last upload from each piece is done. */
    cudaEvent_t sent[2];
    int last; /* the piece in use */
} cuda_staging;

/* Factors rounded for a product (factors.h). */
struct cuda_rounding {
    uint16_t *numbers;
    size_t n;
};

typedef struct cuda_stream {
    /* copies: for uploads that overlap with kernels */
    cudaStream_t stream, copies;
    cudaEvent_t reached; /* by `stream`, at the last send */
    /* For stage and send; for small uploads. */
    cuda_staging large, small;
    /* Bytes used of small.piece[small.last]. */
    size_t used;
    /* CUDA_SCRATCH_BYTES of scratch, on the device. */
    void *scratch;
    /* Of a product's two factors, and its bias. */
    cuda_rounding rounding[3];
    struct cuda_products *products; /* NULL until the first product */
} cuda_stream;

static inline cuda_stream *cuda_stream_of(const train_stream *s) { return (cuda_stream *)s->state; }
static inline cudaStream_t cuda_on(const train_stream *s) { return cuda_stream_of(s)->stream; }
static inline double *cuda_scratch(const train_stream *s) {
    return (double *)cuda_stream_of(s)->scratch;
}

/* An array of an operation. Before the launch it is checked to be in device memory. `as` says how
 * the operation uses it, in case it is kept for products (factors.h). */
typedef enum cuda_as {
    CUDA_AS_IT_IS = 0, /* according to its type */
    CUDA_EITHER = 1,   /* single precision or factors, by cuda_numbers */
    CUDA_BOTH = 2      /* it writes to weights and to their copy */
} cuda_as;
typedef struct cuda_array {
    const void *at; /* NULL is fine: it is ignored */
    size_t count, size;
    bool is_written; /* may be written: it is not const */
    cuda_as as;
    /* Elements read or written: `count`, unless an order selects rows. */
    size_t used;
} cuda_array;
template <typename T>
static inline cuda_array cuda_array_of(T *at, size_t count, cuda_as as = CUDA_AS_IT_IS) {
    return cuda_array{at, count, sizeof *at, !std::is_const<T>::value, as, count};
}
#define CUDA_ARRAY(at, count)   cuda_array_of(at, count)
#define CUDA_NUMBERS(at, count) cuda_array_of(at, count, CUDA_EITHER)
/* Rows selected by an order. Only the device knows which rows; there is at least one. */
template <typename T>
static inline cuda_array cuda_picked(T *from, const uint32_t *order, size_t rows, size_t width) {
    cuda_array array = cuda_array_of(from, (order ? 1 : rows) * width);
    array.used = rows * width;
    return array;
}

int cuda_ordinal(const train_device *device); /* its number */

/* Begins an operation: checks that its arrays are in memory that the device has allocated.
 * TAPER_ERR_DEVICE: they are not, or the device is lost; train_cuda_fault has a message. */
taper_status cuda_begin_arrays(train_stream *s, const char *operation, const cuda_array *array,
                               size_t arrays);
#define CUDA_BEGIN(s, operation, ...)                                           \
    do {                                                                        \
        const cuda_array cuda_arrays[] = {__VA_ARGS__};                         \
        TAPER_TRY(cuda_begin_arrays(s, operation, cuda_arrays,                  \
                                    sizeof cuda_arrays / sizeof *cuda_arrays)); \
    } while (0)
/* Records a failure of an operation. Returns TAPER_ERR_DEVICE; train_cuda_fault gives the
 * reason. */
taper_status cuda_fail(train_stream *s, const char *operation, const char *why);
/* The same where there is no stream. */
taper_status cuda_lose(train_device *device, const char *operation, const char *why);
/* Ends an operation, after its last launch: checks the driver's error. */
taper_status cuda_end(train_stream *s, const char *operation);

#endif
