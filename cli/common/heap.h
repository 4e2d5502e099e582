/* heap.h -- memory that is freed stays with the process. */
#ifndef CLI_HEAP_H
#define CLI_HEAP_H

/* Call once, first. Every group, and every step of training, takes and frees some hundred kilobytes
 * at a time; given back to the system their pages are cleared and mapped anew each time, which took
 * a third of a picture's time and two thirds of a small batch's (bench/results/README.md). The peak
 * is some MiB higher, and grows no faster with the number of images (promise P8). Nothing where the
 * C library is not glibc. */
void cli_heap_keep(void);

#endif
