/* stream.h -- what operations know of their stream, and what they do at their beginning and end. */
#ifndef TRAIN_CUDA_STREAM_H
#define TRAIN_CUDA_STREAM_H
#include "train/cuda/cuda.h"
#include "train/cuda/kernel.h"
#include <type_traits>

/* Sums on their way from blocks to one: room of the stream's own. */
enum { CUDA_ROOM_BYTES = 1 << 20 };

/* The host's memory that uploads leave from while the host goes on, which the driver may read by
 * itself. */
enum { CUDA_SMALL_BYTES = 1 << 18 };
typedef struct cuda_staging {
    char *piece[2];
    size_t bytes[2];
    cudaEvent_t sent[2]; /* what was to leave a piece has left it */
    int last;            /* the piece in use */
} cuda_staging;

/* Factors that a product has rounded (factors.h). */
struct cuda_rounding {
    uint16_t *numbers;
    size_t n;
};

typedef struct cuda_stream {
    cudaStream_t stream, copies;    /* copies: what is sent beside */
    cudaEvent_t reached;            /* by `stream`, when the last was sent */
    cuda_staging large, small;      /* what is sent; small uploads, one after the other ... */
    size_t used;                    /* ... of which so many bytes of small.piece[small.last] */
    void *room;                     /* CUDA_ROOM_BYTES, on the device */
    cuda_rounding rounding[3];      /* of a product's two factors, and its bias */
    struct cuda_products *products; /* NULL until the first product */
} cuda_stream;

static inline cuda_stream *cuda_stream_of(const train_stream *s) { return (cuda_stream *)s->state; }
static inline cudaStream_t cuda_on(const train_stream *s) { return cuda_stream_of(s)->stream; }
static inline double *cuda_room(const train_stream *s) { return (double *)cuda_stream_of(s)->room; }

/* Arrays of an operation, to be found in the device's memory before it is launched, and what the
 * operation takes them as, should they be kept for products (factors.h). */
typedef enum cuda_as {
    CUDA_AS_IT_IS = 0, /* what its type says */
    CUDA_EITHER = 1,   /* single precision or factors, by cuda_numbers */
    CUDA_BOTH = 2      /* it writes to weights and to their copy */
} cuda_as;
typedef struct cuda_array {
    const void *at; /* NULL is fine: it is not looked at */
    size_t count, size;
    bool is_written; /* or may be: it is not const */
    cuda_as as;
    size_t met; /* as many of it are read or written: `count`, but of what an order picks */
} cuda_array;
template <typename T>
static inline cuda_array cuda_array_of(T *at, size_t count, cuda_as as = CUDA_AS_IT_IS) {
    return cuda_array{at, count, sizeof *at, !std::is_const<T>::value, as, count};
}
#define CUDA_ARRAY(at, count)   cuda_array_of(at, count)
#define CUDA_NUMBERS(at, count) cuda_array_of(at, count, CUDA_EITHER)
/* Of rows that an order picks: it is known to the device alone how many there are, but one at
 * least. */
template <typename T>
static inline cuda_array cuda_picked(T *from, const uint32_t *order, size_t rows, size_t width) {
    cuda_array array = cuda_array_of(from, (order ? 1 : rows) * width);
    array.met = rows * width;
    return array;
}

/* Begin an operation: its arrays lie in memory that the device has given out. TAPER_ERR_DEVICE:
 * they do not, or the device was lost before; train_cuda_fault says more. */
taper_status cuda_begin_arrays(train_stream *s, const char *operation, const cuda_array *array,
                               size_t arrays);
#define CUDA_BEGIN(s, operation, ...)                                           \
    do {                                                                        \
        const cuda_array cuda_arrays[] = {__VA_ARGS__};                         \
        TAPER_TRY(cuda_begin_arrays(s, operation, cuda_arrays,                  \
                                    sizeof cuda_arrays / sizeof *cuda_arrays)); \
    } while (0)
/* It has failed otherwise: the status, TAPER_ERR_DEVICE, with the reason for train_cuda_fault. */
taper_status cuda_fail(train_stream *s, const char *operation, const char *why);
/* Its end, after the last launch: what the driver says of it. */
taper_status cuda_end(train_stream *s, const char *operation);

#endif
