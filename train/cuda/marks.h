/* marks.h -- what the code says of itself, for tests.
 *
 * The body of a kernel is plain CUDA except for five macros:
 *   SHARED(type, name, count)   an array in the block's shared memory
 *   BARRIER()                   __syncthreads()
 *   BELOW(i, n)                 i < n, where n bounds a read or write
 *   LAUNCH(kernel, blocks, threads, stream, arguments ...)
 *   FOUR_AT_A_TIME              before a loop: unrolls it four times
 * Host code states two things:
 *   CUDA_COUNT(operation, bytes)        the operation's arrays have so many bytes
 *   CUDA_ROUNDED(stream, n, at, copy)   copy[n] is at[n] rounded, when the stream gets there
 *
 * With nvcc they cost nothing. Tests of kernels have an include path on which another file of this
 * name comes first. It checks every use. */
#ifndef TRAIN_CUDA_MARKS_H
#define TRAIN_CUDA_MARKS_H
#define SHARED(type, name, count) __shared__ type name[count]
#define BARRIER()                 __syncthreads()
#define BELOW(i, n)               ((i) < (n))
#define LAUNCH(kernel, blocks, threads, stream, ...) \
    kernel<<<(unsigned)(blocks), (unsigned)(threads), 0, stream>>>(__VA_ARGS__)
#define FOUR_AT_A_TIME                    _Pragma("unroll 4")
#define CUDA_COUNT(operation, bytes)      ((void)(bytes))
#define CUDA_ROUNDED(stream, n, at, copy) ((void)0)

/* Bytes of a stream's workspace for products. */
enum { LT_WORKSPACE_BYTES = 32 << 20 };
/* Bytes that are added up at once over ranks (group.h). */
enum { CUDA_PIECE_BYTES = 32 << 20 };
#endif
