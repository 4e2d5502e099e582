/* lt_library.cu -- see lt_library.h. */
#include "train/cuda/lt_library.h"
#include <dlfcn.h>
#include <mutex>

static void *open_library(void) {
    static const char *const names[] = {LT_FILENAME, "/usr/local/cuda/lib64/" LT_FILENAME,
                                        "/usr/local/cuda/lib/" LT_FILENAME};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* Whether all functions were found. */
static bool find_functions(void *library, cuda_lt_library *lt) {
    bool all = library != NULL;
#define LT_LOAD(name)                                             \
    if (all) lt->name = (decltype(&::name))dlsym(library, #name); \
    all = all && lt->name;
    LT_FUNCTIONS(LT_LOAD)
#undef LT_LOAD
    return all;
}

const cuda_lt_library *cuda_lt_load(void) {
    static std::mutex lock;
    static cuda_lt_library lt;
    static bool is_there;
    std::lock_guard<std::mutex> guard(lock);
    if (!is_there) is_there = find_functions(open_library(), &lt);
    return is_there ? &lt : NULL;
}
