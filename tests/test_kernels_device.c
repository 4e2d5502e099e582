/* test_kernels_device.c -- test_device.c on the GPU's kernels (the execution model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_device.c"
