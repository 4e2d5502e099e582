/* test_kernels_codes.c -- test_device_codes.c on the GPU's kernels (the execution model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_device_codes.c"
