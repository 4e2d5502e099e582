/* definitions.h -- the processor's operations in plain C, the reference implementation of
 * train/device/operations.h. */
#ifndef TRAIN_DEFINITIONS_H
#define TRAIN_DEFINITIONS_H
#include "train/device/operations.h"

/* Rows of a block: threads share a task's blocks. */
enum { TRAIN_ROW_BLOCK = 16 };
static inline size_t train_row_blocks(size_t rows) {
    return (rows + TRAIN_ROW_BLOCK - 1) / TRAIN_ROW_BLOCK;
}
static inline size_t train_row_block_end(size_t rows, size_t block) {
    size_t end = (block + 1) * TRAIN_ROW_BLOCK;
    return end < rows ? end : rows;
}

#define TRAIN_DECLARED(name) train_##name##_fn train_plain_##name;
TRAIN_OPERATIONS(TRAIN_DECLARED)
#undef TRAIN_DECLARED

#endif
