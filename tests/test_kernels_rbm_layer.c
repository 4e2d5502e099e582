/* test_kernels_rbm_layer.c -- test_rbm_layer.c on the GPU's kernels (the execution model). */
#define EVERY_DEVICE_KERNELS 1
#include "test_rbm_layer.c"
