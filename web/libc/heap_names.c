/* heap_names.c -- the names of the C library for heap.h, in the memory of the module. */
#include "web/libc/heap.h"
#include <stdlib.h>

#define PAGE ((size_t)65536)
#define STEP (16 * PAGE)

extern char __heap_base; /* the linker's */
static web_heap heap;

static size_t grow_by(size_t bytes) {
    const size_t pages = (bytes + PAGE - 1) / PAGE;
    return __builtin_wasm_memory_grow(0, pages) == SIZE_MAX ? 0 : pages * PAGE;
}

static size_t more(size_t least) {
    const size_t grown = grow_by(least < STEP ? STEP : least);
    return grown ? grown : grow_by(least);
}

static web_heap *here(void) {
    if (!heap.more)
        web_heap_begin(&heap, &__heap_base, (char *)(__builtin_wasm_memory_size(0) * PAGE), more);
    return &heap;
}

void *malloc(size_t size) { return web_heap_take(here(), size); }
void *calloc(size_t count, size_t size) { return web_heap_take_zeros(here(), count, size); }
void *realloc(void *memory, size_t size) { return web_heap_resize(here(), memory, size); }
void free(void *memory) { web_heap_give(here(), memory); }
