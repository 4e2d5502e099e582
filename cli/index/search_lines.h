/* search_lines.h -- prints results of a search as CSV or JSON. */
#ifndef CLI_SEARCH_LINES_H
#define CLI_SEARCH_LINES_H
#include "cli/index/search_page.h"

/* CSV with the heading query,rank,name,label,distance,image; or a line of JSON per query:
 * {"schema":1,"kind":"neighbours","query":..,"neighbours":[{"name":..,"label":..,"distance":..,
 * "image":..}]}. Of several index files both name that of each image, as `index`. Errors are those
 * of the sink. */
taper_status cli_put_nearest(const cli_found *found, const cli_common *common,
                             const taper_sink *sink);

/* For each query the neighbourhood of at least `least` images by leading bits: CSV with the heading
 * query,bits,name,label,image, or {"schema":1,"kind":"neighbourhood","bits":..,"size":..,..}.
 * *written: status of the sink. For other failures prints a message and returns an exit code. */
int cli_put_neighbourhoods(const cli_found *found, uint64_t least, const cli_common *common,
                           const taper_sink *sink, taper_status *written);

#endif
