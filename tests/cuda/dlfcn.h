/* dlfcn.h -- loads the libraries of the model (libraries.cc), in place of the system's header. */
#ifndef TESTS_CUDA_DLFCN_H
#define TESTS_CUDA_DLFCN_H
/* NULL: there is no such library, or function. */
void *cuda_model_open_library(const char *name);
void *cuda_model_find_function(void *library, const char *name);
#define dlopen(name, flags)  cuda_model_open_library(name)
#define dlsym(library, name) cuda_model_find_function(library, name)
#endif
