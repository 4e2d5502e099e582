/* joined_shards.h -- shards of one set, before `merge` joins the containers or `index` the indexes:
 * their order, and whether all are there. */
#ifndef CLI_JOINED_SHARDS_H
#define CLI_JOINED_SHARDS_H
#include "cli/common/options.h"
#include "codec/taper.h"
#include <stdbool.h>

typedef struct cli_joined_shard {
    taper_part part; /* .parts 0: it says nothing */
    char *path;
    size_t number; /* as given, from 0 */
} cli_joined_shard;

/* Sort n files, 1 or more, by the parts that they say they are. If these say nothing they stay as
 * they are. CLI_USAGE, after a message that names files: some are shards and some are not; they are
 * of other sets, models or options; one part is there twice; or parts are missing and
 * allows_missing is false, else a note names them. */
int cli_joined_shards_sort(const char *verb, cli_joined_shard *of, size_t n, bool allows_missing,
                           const cli_common *common);

#endif
