/* decompositions.h -- tables of Unicode, below U+3100, rising; decompositions.py writes them. */
#ifndef FORMATS_DECOMPOSITIONS_H
#define FORMATS_DECOMPOSITIONS_H
#include <stddef.h>
#include <stdint.h>

typedef struct formats_decomposition {
    uint16_t code, first, second; /* second: 0, where it becomes one other character */
} formats_decomposition;

/* Marks from first to last are of this combining class; those of other characters are 0. */
typedef struct formats_mark_class {
    uint16_t first, last;
    uint8_t mark_class;
} formats_mark_class;

extern const formats_decomposition formats_decompositions[];
extern const size_t formats_decomposition_count;
extern const formats_mark_class formats_mark_classes[];
extern const size_t formats_mark_class_count;

#endif
