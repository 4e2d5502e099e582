/* test_kernels_neighbours.c -- test_device_neighbours.c on the GPU's kernels (the execution model).
 */
#define EVERY_DEVICE_KERNELS 1
#include "test_device_neighbours.c"
