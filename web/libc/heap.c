/* heap.c -- see heap.h. */
#include "web/libc/heap.h"
#include <string.h>

/* A block: its header, then what the caller has, or the links of a free block. */
typedef struct web_block {
    size_t before; /* size of the block before; 0: it is the first */
    size_t size;   /* with the header, a multiple of WEB_HEAP_ALIGN; lowest bit: it is taken */
    struct web_block *next, *last;
} web_block;

enum { TAKEN = 1, TRIES = 8 };
#define HEADER offsetof(web_block, next)
#define LEAST  ((sizeof(web_block) + WEB_HEAP_ALIGN - 1) / WEB_HEAP_ALIGN * WEB_HEAP_ALIGN)
#define MOST   (SIZE_MAX / 4)

static size_t size_of(const web_block *b) { return b->size & ~(size_t)TAKEN; }
static web_block *after(const web_block *b) { return (web_block *)((char *)b + size_of(b)); }
static web_block *block_of(void *memory) { return (web_block *)((char *)memory - HEADER); }
static void *memory_of(web_block *b) { return (char *)b + HEADER; }

/* Bytes of a block for `size` bytes of the caller; 0: too many. */
static size_t block_size(size_t size) {
    if (size > MOST) return 0;
    const size_t all = (size + HEADER + WEB_HEAP_ALIGN - 1) & ~(WEB_HEAP_ALIGN - 1);
    return all < LEAST ? LEAST : all;
}

/* --- lists of free blocks: four for each power of two --- */

static unsigned list_of(size_t size) {
    const unsigned power = 31 - (unsigned)__builtin_clz((unsigned)(size >> 4 | 1));
    const unsigned list = 4 * power + (unsigned)(size >> (power + 2) & 3);
    return size >> 4 > UINT32_MAX / 2 || list >= WEB_HEAP_LISTS ? WEB_HEAP_LISTS - 1 : list;
}

static void link_free(web_heap *heap, web_block *b, size_t size) {
    const unsigned k = list_of(size);
    b->size = size;
    b->last = NULL;
    b->next = heap->free[k];
    if (b->next) b->next->last = b;
    heap->free[k] = b;
    heap->filled[k / 32] |= (uint32_t)1 << k % 32;
}

static void unlink_free(web_heap *heap, web_block *b) {
    const unsigned k = list_of(b->size);
    if (b->next) b->next->last = b->last;
    if (b->last)
        b->last->next = b->next;
    else if (!(heap->free[k] = b->next))
        heap->filled[k / 32] &= ~((uint32_t)1 << k % 32);
}

/* A free block of at least `size` bytes: of the own list if one of the first fits, else the
 * first of a list of larger ones. */
static web_block *find_free(const web_heap *heap, size_t size) {
    unsigned k = list_of(size);
    web_block *b = heap->free[k];
    for (int tries = 0; b && tries < TRIES; b = b->next, tries++)
        if (b->size >= size) return b;
    for (k++; k < WEB_HEAP_LISTS; k = (k | 31) + 1) {
        const uint32_t left = heap->filled[k / 32] >> k % 32;
        if (left) return heap->free[k + (unsigned)__builtin_ctz(left)];
    }
    return NULL;
}

/* --- taking --- */

static void set_before(web_heap *heap, web_block *b) {
    web_block *next = after(b);
    if ((char *)next == heap->top)
        heap->before_top = size_of(b);
    else
        next->before = size_of(b);
}

/* A taken block of `size` bytes, of which `all` are there; the rest becomes free. */
static void *cut(web_heap *heap, web_block *b, size_t size, size_t all) {
    if (all - size < LEAST) size = all;
    b->size = size | TAKEN;
    set_before(heap, b);
    if (size == all) return memory_of(b);
    web_block *rest = after(b);
    rest->before = size;
    link_free(heap, rest, all - size);
    set_before(heap, rest);
    return memory_of(b);
}

/* Room for `size` bytes at the top. */
static int reach(web_heap *heap, size_t size) {
    const size_t here = (size_t)(heap->end - heap->top);
    if (size <= here) return 1;
    heap->end += heap->more(size - here);
    return size <= (size_t)(heap->end - heap->top);
}

static void *take_top(web_heap *heap, size_t size) {
    if (!reach(heap, size)) return NULL;
    web_block *b = (web_block *)heap->top;
    b->before = heap->before_top;
    b->size = size | TAKEN;
    heap->top += size;
    heap->before_top = size;
    return memory_of(b);
}

/* What lies before the top may have been written. */
static void dirty(web_heap *heap) {
    if (heap->clean < heap->top) heap->clean = heap->top;
}

void web_heap_begin(web_heap *heap, char *at, char *end, size_t (*more)(size_t least)) {
    memset(heap, 0, sizeof *heap);
    const size_t skew = ((uintptr_t)at + HEADER) % WEB_HEAP_ALIGN;
    heap->first = heap->top = heap->clean = at + (skew ? WEB_HEAP_ALIGN - skew : 0);
    heap->end = end;
    heap->more = more;
}

/* *clean: from where on the memory is zero. */
static void *take(web_heap *heap, size_t size, char **clean) {
    const size_t all = block_size(size);
    if (!all) return NULL;
    web_block *b = find_free(heap, all);
    *clean = heap->clean;
    if (b) {
        unlink_free(heap, b);
        return cut(heap, b, all, b->size);
    }
    void *memory = take_top(heap, all);
    dirty(heap);
    return memory;
}

void *web_heap_take(web_heap *heap, size_t size) {
    char *clean;
    return take(heap, size, &clean);
}

void *web_heap_take_zeros(web_heap *heap, size_t count, size_t size) {
    char *clean;
    if (size && count > MOST / size) return NULL;
    char *memory = take(heap, count * size, &clean);
    if (!memory || memory >= clean) return memory;
    const size_t used = (size_t)(clean - memory);
    return memset(memory, 0, used < count * size ? used : count * size);
}

/* --- giving back --- */

void web_heap_give(web_heap *heap, void *memory) {
    if (!memory) return;
    web_block *b = block_of(memory), *next = after(b);
    size_t size = size_of(b);
    if ((char *)next != heap->top && !(next->size & TAKEN)) {
        unlink_free(heap, next);
        size += next->size;
    }
    if (b->before) {
        web_block *before = (web_block *)((char *)b - b->before);
        if (!(before->size & TAKEN)) {
            unlink_free(heap, before);
            size += before->size;
            b = before;
        }
    }
    if ((char *)b + size == heap->top) {
        heap->top = (char *)b;
        heap->before_top = b->before;
        return;
    }
    link_free(heap, b, size);
    set_before(heap, b);
}

/* More of a block where it is: from a free block behind it, or from the top. */
static int grow(web_heap *heap, web_block *b, size_t size) {
    web_block *next = after(b);
    if ((char *)next == heap->top) {
        if (!reach(heap, size - size_of(b))) return 0;
        heap->top = (char *)b + size;
        heap->before_top = size;
        b->size = size | TAKEN;
        dirty(heap);
        return 1;
    }
    const size_t all = next->size & TAKEN ? 0 : size_of(b) + next->size;
    if (all < size) return 0;
    unlink_free(heap, next);
    cut(heap, b, size, all);
    return 1;
}

/* Less of a block: its end is given back. */
static void shrink(web_heap *heap, web_block *b, size_t size) {
    const size_t all = size_of(b);
    if (all - size < LEAST) return;
    b->size = size | TAKEN;
    web_block *rest = after(b);
    rest->before = size;
    rest->size = (all - size) | TAKEN;
    set_before(heap, rest);
    web_heap_give(heap, memory_of(rest));
}

void *web_heap_resize(web_heap *heap, void *memory, size_t size) {
    if (!memory) return web_heap_take(heap, size);
    web_block *b = block_of(memory);
    const size_t all = block_size(size), here = size_of(b);
    if (!all) return NULL;
    if (all <= here) {
        shrink(heap, b, all);
        return memory;
    }
    if (grow(heap, b, all)) return memory;
    void *moved = web_heap_take(heap, size);
    if (!moved) return NULL;
    memcpy(moved, memory, here - HEADER);
    web_heap_give(heap, memory);
    return moved;
}
