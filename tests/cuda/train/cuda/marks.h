/* marks.h -- in place of train/cuda/marks.h, on the execution model. */
#ifndef TRAIN_CUDA_MARKS_H
#define TRAIN_CUDA_MARKS_H
#include <cuda_runtime.h>
#define SHARED(type, name, count) \
    type *name = (type *)cuda_model_shared(CUDA_MODEL_SITE("shared"), sizeof(type) * (count))
#define BARRIER()   cuda_model_barrier(CUDA_MODEL_SITE("barrier"))
#define BELOW(i, n) cuda_model_below((i), (n), CUDA_MODEL_SITE("bound"))
#define LAUNCH(kernel, blocks, threads, stream, ...)        \
    cuda_model_put_launch(stream, #kernel, blocks, threads, \
                          cuda_model_bind([](auto... given) { kernel(given...); }, __VA_ARGS__))
#define FOUR_AT_A_TIME
#define CUDA_COUNT(operation, bytes)      ((void)cuda_model_counts(operation, bytes, 0))
#define CUDA_ROUNDED(stream, n, at, copy) cuda_model_rounded(stream, n, at, copy)

/* small, because the model copies all memory */
enum { LT_WORKSPACE_BYTES = 4096, CUDA_PIECE_BYTES = 1 << 16 };
#endif
