/* nccl_library.h -- the functions of NVIDIA's NCCL that sums over GPUs need, looked up when they
 * are, so that the program is built and runs without the library.
 *
 * Its header is often missing where CUDA is installed. So what is needed of it is declared here, as
 * releases 2.14 to 2.28 have it; their binary interface is stable. nccl_library.cu compares it with
 * the header where there is one. */
#ifndef TRAIN_CUDA_NCCL_LIBRARY_H
#define TRAIN_CUDA_NCCL_LIBRARY_H
#include <cuda_runtime.h>
#include <stddef.h>

enum { CUDA_NCCL_KEY = 128 };

/* Results. Of a communicator whose calls do not block IN_PROGRESS means: no other call until
 * CommGetAsyncError says how it went. */
enum { CUDA_NCCL_SUCCESS = 0, CUDA_NCCL_IN_PROGRESS = 7 };

enum { CUDA_NCCL_BYTES = 1 }; /* a type of elements: ncclUint8 */

typedef struct cuda_nccl_comm cuda_nccl_comm; /* private to the library */
typedef struct cuda_nccl_key {
    char bytes[CUDA_NCCL_KEY];
} cuda_nccl_key;

/* The options of release 2.14, which later ones accept and complete. */
typedef struct cuda_nccl_options {
    size_t size;
    unsigned magic, version;
    int blocking;
} cuda_nccl_options;
static const unsigned CUDA_NCCL_MAGIC = 0xcafebeef, CUDA_NCCL_VERSION = 21400;

/* X(name without "nccl", result, arguments). */
#define NCCL_FUNCTIONS(X)                                                        \
    X(GetErrorString, const char *, (int result))                                \
    X(GetUniqueId, int, (cuda_nccl_key * key))                                   \
    X(CommInitRankConfig, int,                                                   \
      (cuda_nccl_comm * *comm, int ranks, cuda_nccl_key key, int rank,           \
       cuda_nccl_options *options))                                              \
    X(CommGetAsyncError, int, (cuda_nccl_comm * comm, int *result))              \
    X(CommFinalize, int, (cuda_nccl_comm * comm))                                \
    X(CommDestroy, int, (cuda_nccl_comm * comm))                                 \
    X(CommAbort, int, (cuda_nccl_comm * comm))                                   \
    X(GroupStart, int, (void))                                                   \
    X(GroupEnd, int, (void))                                                     \
    X(Send, int,                                                                 \
      (const void *from, size_t count, int type, int peer, cuda_nccl_comm *comm, \
       cudaStream_t stream))                                                     \
    X(Recv, int,                                                                 \
      (void *to, size_t count, int type, int peer, cuda_nccl_comm *comm, cudaStream_t stream))

typedef struct cuda_nccl_library {
#define NCCL_MEMBER(name, result, arguments) result(*name) arguments;
    NCCL_FUNCTIONS(NCCL_MEMBER)
#undef NCCL_MEMBER
} cuda_nccl_library;

#define NCCL_FILENAME "libnccl.so.2"

/* Returns NULL if it cannot be loaded, or lacks a function; the next call tries again. Any thread
 * may call it. */
const cuda_nccl_library *cuda_nccl_load(void);

#endif
