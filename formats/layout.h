/* layout.h -- the arrays of an object in one block of memory. The same function lays them out
 * twice: first without memory, which counts the bytes, then in the block. So an account is charged
 * with exactly what is taken.
 *
 *     formats_layout at = {0};
 *     lay_out(object, &at);                                        every array NULL
 *     TAPER_TRY(formats_block_take(&object->block, &at, account));
 *     lay_out(object, &at);                                        arrays in the block, all 0 */
#ifndef FORMATS_LAYOUT_H
#define FORMATS_LAYOUT_H
#include "formats/account.h"

typedef struct formats_layout {
    char *memory;  /* NULL: counting */
    uint64_t used; /* bytes so far; saturates */
} formats_layout;

/* The next n elements of `size` bytes. Arrays begin at multiples of 64 bytes in the block. */
void *formats_lay(formats_layout *at, uint64_t n, uint64_t size);

/* Zeroed: none. */
typedef struct formats_block {
    void *memory;
    uint64_t bytes;
    formats_account *account; /* borrowed; charged with the bytes; NULL: none */
} formats_block;

/* Charge and allocate the counted bytes, and begin the layout again, in them. unset: they may have
 * any values; pages that are never written then take no memory. TAPER_ERR_LIMIT: the account has
 * less. TAPER_ERR_NOMEM. On failure *block is zeroed. */
taper_status formats_block_take(formats_block *block, formats_layout *at, formats_account *account);
taper_status formats_block_take_unset(formats_block *block, formats_layout *at,
                                      formats_account *account);
/* Leaves it zeroed. */
void formats_block_free(formats_block *block);

#endif
