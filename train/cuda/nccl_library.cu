/* nccl_library.cu -- see nccl_library.h. */
#include "train/cuda/nccl_library.h"
#include <dlfcn.h>
#include <mutex>

#if defined(__CUDACC__) && defined(__has_include)
#if __has_include(<nccl.h>)
#include <nccl.h>
static_assert(sizeof(ncclUniqueId) == sizeof(cuda_nccl_key), "the key");
static_assert((int)ncclSuccess == CUDA_NCCL_SUCCESS, "success");
static_assert((int)ncclInProgress == CUDA_NCCL_IN_PROGRESS, "in progress");
static_assert((int)ncclUint8 == CUDA_NCCL_BYTES, "the type of bytes");
static_assert(sizeof(ncclResult_t) == sizeof(int) && sizeof(ncclDataType_t) == sizeof(int), "int");
static_assert(offsetof(ncclConfig_t, magic) == offsetof(cuda_nccl_options, magic) &&
                  offsetof(ncclConfig_t, version) == offsetof(cuda_nccl_options, version) &&
                  offsetof(ncclConfig_t, blocking) == offsetof(cuda_nccl_options, blocking),
              "the options");
#endif
#endif

static void *open_library(void) {
    static const char *const names[] = {NCCL_FILENAME, "/usr/local/cuda/lib64/" NCCL_FILENAME,
                                        "/usr/local/cuda/lib/" NCCL_FILENAME};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* Whether all functions were found. */
static bool find_functions(void *library, cuda_nccl_library *nccl) {
    bool all = library != NULL;
#define NCCL_LOAD(name, result, arguments)                                    \
    if (all) nccl->name = (decltype(nccl->name))dlsym(library, "nccl" #name); \
    all = all && nccl->name;
    NCCL_FUNCTIONS(NCCL_LOAD)
#undef NCCL_LOAD
    return all;
}

const cuda_nccl_library *cuda_nccl_load(void) {
    static std::mutex lock;
    static cuda_nccl_library nccl;
    static bool is_there;
    std::lock_guard<std::mutex> guard(lock);
    if (!is_there) is_there = find_functions(open_library(), &nccl);
    return is_there ? &nccl : NULL;
}
