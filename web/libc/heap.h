/* heap.h -- memory for the build for browsers: an allocator in a tenth of the code of the C
 * library's, which knows that memory of a browser comes as zeros, and does not clear it again.
 *
 * Blocks lie side by side, each behind a header with its size and that of the block before, so that
 * free neighbours join. Free blocks are in lists by size; the rest of the memory is the top. */
#ifndef WEB_LIBC_HEAP_H
#define WEB_LIBC_HEAP_H
#include <stddef.h>
#include <stdint.h>

#define WEB_HEAP_ALIGN ((size_t)16)
#define WEB_HEAP_LISTS 128

struct web_block;
typedef struct web_heap {
    /* Makes the memory that follows `end` larger by at least `least` bytes, of zeros. Returns by
     * how many; 0: there is no more. */
    size_t (*more)(size_t least);
    char *first, *top, *end; /* blocks from first; nothing is at top and after it */
    char *clean;             /* from here on all is zero */
    size_t before_top;       /* size of the block before top */
    struct web_block *free[WEB_HEAP_LISTS];
    uint32_t filled[WEB_HEAP_LISTS / 32]; /* bits: lists with blocks */
} web_heap;

/* An empty heap in the memory from `at` to `end`, which is zero. */
void web_heap_begin(web_heap *heap, char *at, char *end, size_t (*more)(size_t least));
/* NULL: there is no memory. Memory is aligned to WEB_HEAP_ALIGN. */
void *web_heap_take(web_heap *heap, size_t size);
/* The same, of zeros. */
void *web_heap_take_zeros(web_heap *heap, size_t count, size_t size);
/* As realloc, but 0 bytes are a block, too. */
void *web_heap_resize(web_heap *heap, void *memory, size_t size);
void web_heap_give(web_heap *heap, void *memory);

#endif
