/* merge_shards.h -- shards of one set, before `merge` joins them: their order, and whether all are
 * there. */
#ifndef CLI_MERGE_SHARDS_H
#define CLI_MERGE_SHARDS_H
#include "cli/common/inputs.h"

/* Sort open containers and their paths by the parts that they say they are. Containers that say
 * nothing stay as they are. CLI_USAGE, after a message that names files: some are shards and some
 * are not; they are of other sets, models or options; one part is there twice; or parts are missing
 * and allows_missing is false, else a note names them. */
int cli_merge_sort_shards(cli_container *container, char **path, size_t n, bool allows_missing,
                          const cli_common *common);

#endif
