/* layout.c -- see layout.h. With the address sanitizer, each array is followed by bytes that must
 * not be used. */
#include "formats/layout.h"
#include <stdlib.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

enum { LINE = 64 };

void *formats_lay(formats_layout *at, uint64_t n, uint64_t size) {
    uint64_t bytes, end;
    if (__builtin_mul_overflow(n, size, &bytes) || __builtin_add_overflow(at->used, bytes, &end) ||
        end > UINT64_MAX - 2 * LINE) {
        at->used = UINT64_MAX;
        return NULL;
    }
    char *array = at->memory ? at->memory + at->used : NULL;
    at->used = (end + LINE - 1) / LINE * LINE;
#ifdef __SANITIZE_ADDRESS__
    at->used += LINE;
#endif
    if (array) ASAN_POISON_MEMORY_REGION(at->memory + end, at->used - end);
    return array;
}

static taper_status take(formats_block *block, formats_layout *at, formats_account *account,
                         int unset) {
    const uint64_t bytes = at->used;
    *block = (formats_block){0};
    TAPER_TRY(formats_account_take(account, bytes));
    const size_t some = bytes < SIZE_MAX ? (size_t)bytes + !bytes : 0;
    void *memory = !some ? NULL : unset ? malloc(some) : calloc(some, 1);
    if (!memory) {
        formats_account_give(account, bytes);
        return TAPER_ERR_NOMEM;
    }
    *block = (formats_block){memory, bytes, account};
    *at = (formats_layout){.memory = memory};
    return TAPER_OK;
}

taper_status formats_block_take(formats_block *block, formats_layout *at,
                                formats_account *account) {
    return take(block, at, account, 0);
}

taper_status formats_block_take_unset(formats_block *block, formats_layout *at,
                                      formats_account *account) {
    return take(block, at, account, 1);
}

void formats_block_free(formats_block *block) {
    free(block->memory);
    formats_account_give(block->account, block->bytes);
    *block = (formats_block){0};
}
