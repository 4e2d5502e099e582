/* dlfcn.h -- loads the model's cuBLASLt (cublasLt.h), in place of the system's header. */
#ifndef TESTS_CUDA_DLFCN_H
#define TESTS_CUDA_DLFCN_H
#define dlopen(name, flags)  cuda_model_open_library(name)
#define dlsym(library, name) cuda_model_find_function(library, name)
#endif
