/* test_kernels_feed.c -- test_feed.c on the GPU's kernels (the execution model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_feed.c"
