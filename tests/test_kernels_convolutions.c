/* test_kernels_convolutions.c -- test_convolutions.c on the GPU's kernels (the execution model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_convolutions.c"
