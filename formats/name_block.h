/* name_block.h -- blocks of NUL-terminated strings: where each begins, and whether all are surely
 * legal names. The time of both is about an instruction per byte, so an index of many names opens
 * fast. */
#ifndef FORMATS_NAME_BLOCK_H
#define FORMATS_NAME_BLOCK_H
#include <stddef.h>
#include <stdint.h>

typedef struct formats_name_block {
    uint32_t found; /* strings that were found and have an end, 0..n */
    size_t used;    /* bytes up to the end of the last of these, with its NUL */
    /* 1: all strings found are legal names (formats_name_is_legal). 0: look at each of them; this
     * is so for illegal names, but also for names with backslashes or hidden files. */
    int are_plain;
} formats_name_block;

/* Find the first n strings of bytes[size]; at[i] is set to the offset of string i. Nothing is read
 * beyond `size`. An offset above UINT32_MAX ends the search before that string. */
formats_name_block formats_name_block_find(const uint8_t *bytes, size_t size, uint32_t n,
                                           uint32_t *at);

/* The reference implementation. */
formats_name_block formats_name_block_find_plain(const uint8_t *bytes, size_t size, uint32_t n,
                                                 uint32_t *at);

#endif
