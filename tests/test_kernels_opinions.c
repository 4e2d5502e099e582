/* test_kernels_opinions.c -- test_device_opinions.c on the GPU's kernels (the model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_device_opinions.c"
