/* search_lines.h -- what was found, as lines of CSV or JSON. */
#ifndef CLI_SEARCH_LINES_H
#define CLI_SEARCH_LINES_H
#include "cli/index/search_page.h"

/* query,rank,name,label,distance,image under a heading; or a line of JSON a query,
 * {"schema":1,"kind":"neighbours","query":..,"neighbours":[{"name":..,"label":..,"distance":..,
 * "image":..}]}. What the sink says. */
taper_status cli_put_nearest(const cli_found *found, const cli_common *common,
                             const taper_sink *sink);

/* Of each query the neighbourhood of at least `least` images by leading bits:
 * query,bits,name,label,image, or {"schema":1,"kind":"neighbourhood","bits":..,"size":..,..}.
 * Prints what is wrong and returns an exit code; *written is what the sink says. */
int cli_put_neighbourhoods(const cli_found *found, uint64_t least, const cli_common *common,
                           const taper_sink *sink, taper_status *written);

#endif
