/* nccl_parts.h -- NCCL in the model, for libraries.cc; see nccl.cc. */
#ifndef TESTS_CUDA_NCCL_PARTS_H
#define TESTS_CUDA_NCCL_PARTS_H
/* NULL: there is no such library, or function. */
void *cuda_model_nccl_open(const char *name);
void *cuda_model_nccl_find(const char *function);
#endif
