/* test_kernels_units.c -- test_device_units.c on the GPU's kernels (the execution model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_device_units.c"
