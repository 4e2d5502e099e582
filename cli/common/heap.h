/* heap.h -- keeps freed memory in the process. */
#ifndef CLI_HEAP_H
#define CLI_HEAP_H

/* Call once, at the start. Each group, and each step of training, allocates and frees some hundred
 * kilobytes. If these were returned to the system, it would clear and map the pages each time: a
 * third of the time of a picture, and two thirds of that of a small batch
 * (bench/results/README.md). The peak is some MiB higher; it does not grow faster with the number
 * of images (promise P8). Does nothing if the C library is not glibc. */
void cli_heap_keep(void);

#endif
