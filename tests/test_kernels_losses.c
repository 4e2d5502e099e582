/* test_kernels_losses.c -- test_device_losses.c on the GPU's kernels (the execution model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_device_losses.c"
