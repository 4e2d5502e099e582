/* operations.h -- the GPU's operations, as specified in train/device/operations.h. */
#ifndef TRAIN_CUDA_OPERATIONS_H
#define TRAIN_CUDA_OPERATIONS_H
#include "train/cuda/cuda.h"
#include "train/device/operations.h"
#ifdef __cplusplus
extern "C" {
#endif

train_precision cuda_precision(const train_device *device);

#define TRAIN_DECLARED(name) train_##name##_fn train_cuda_##name;
TRAIN_OPERATIONS(TRAIN_DECLARED)
#undef TRAIN_DECLARED

#ifdef __cplusplus
}
#endif
#endif
