/* test_kernels_predictions.c -- test_device_predictions.c on the GPU's kernels (the model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_device_predictions.c"
