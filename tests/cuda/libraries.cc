/* libraries.cc -- the libraries of the model, for dlfcn.h. */
#include "cublaslt_parts.h"
#include "dlfcn.h"
#include "nccl_parts.h"
#include <string.h>

void *cuda_model_open_library(const char *name) {
    return strstr(name, "nccl") ? cuda_model_nccl_open(name) : cuda_model_lt_open(name);
}

void *cuda_model_find_function(void *, const char *name) {
    return strncmp(name, "nccl", 4) ? cuda_model_lt_find(name) : cuda_model_nccl_find(name);
}
