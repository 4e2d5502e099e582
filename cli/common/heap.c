/* heap.c -- see heap.h. */
#include "cli/common/heap.h"
#include <stdlib.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

void cli_heap_keep(void) {
#if defined(__GLIBC__)
    enum { MIB = 1 << 20, LARGEST = 32 * MIB, IDLE = 64 * MIB, STEP = 4 * MIB };
    mallopt(M_MMAP_THRESHOLD, LARGEST); /* the largest allowed value */
    mallopt(M_TRIM_THRESHOLD, IDLE);
    mallopt(M_TOP_PAD, STEP);
#endif
}
