/* test_kernels_classes.c -- test_device_classes.c on the GPU's kernels (the model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_device_classes.c"
