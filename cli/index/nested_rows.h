/* nested_rows.h -- nested neighbourhoods of queries, to be shown: figure 4 of Rippel, Gelbart &
 * Adams 2014. */
#ifndef CLI_NESTED_ROWS_H
#define CLI_NESTED_ROWS_H
#include "cli/index/search_page.h"

enum { CLI_NESTED_ROWS = 6 };

/* Make found's rows: of each query the neighbourhood of at least `least` images, of four times as
 * many, and so on, up to CLI_NESTED_ROWS or all images. Of each, images that are spread over its
 * order; their distances are leading bits that they share with the query. found->index and queries
 * are there. TAPER_ERR_NOMEM; found is to be freed in any case. */
taper_status cli_nested_rows(cli_found *found, uint64_t least, taper_error *error);
void cli_nested_rows_free(cli_found *found);

#endif
