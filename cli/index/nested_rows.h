/* nested_rows.h -- nested neighbourhoods of queries, for the page: figure 4 of Rippel, Gelbart &
 * Adams 2014. */
#ifndef CLI_NESTED_ROWS_H
#define CLI_NESTED_ROWS_H
#include "cli/index/search_page.h"

enum { CLI_NESTED_ROWS = 6 };

/* Make the rows of found, whose index and queries must be set. For each query: the neighbourhood of
 * at least `least` images, of four times as many, and so on, up to CLI_NESTED_ROWS rows or all
 * images. A row has images spread over the neighbourhood; as distance, the number of leading bits
 * shared with the query. TAPER_ERR_NOMEM; free found in any case. */
taper_status cli_nested_rows(cli_found *found, uint64_t least, taper_error *error);
void cli_nested_rows_free(cli_found *found);

#endif
