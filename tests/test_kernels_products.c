/* test_kernels_products.c -- test_device_products.c on the GPU's kernels (the execution model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_device_products.c"
