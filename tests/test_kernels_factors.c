/* test_kernels_factors.c -- test_device_factors.c on the GPU's kernels (the execution model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_device_factors.c"
