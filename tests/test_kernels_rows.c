/* test_kernels_rows.c -- test_device_rows.c on the GPU's kernels (the execution model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_device_rows.c"
