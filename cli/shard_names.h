/* shard_names.h -- names that `merge` changes, as an earlier container has them, too. */
#ifndef CLI_SHARD_NAMES_H
#define CLI_SHARD_NAMES_H
#include "cli/common/messages.h"
#include "formats/front.h"

/* The names of n containers that are joined into path: in one line how many are changed, and the
 * first. Returns an exit code: without memory it prints that. */
int cli_shard_names_tell(const cli_common *common, const char *path, const formats_front *shard,
                         size_t n);

#endif
