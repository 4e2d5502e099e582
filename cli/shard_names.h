/* shard_names.h -- names that `merge` changes because an earlier container also has them. */
#ifndef CLI_SHARD_NAMES_H
#define CLI_SHARD_NAMES_H
#include "cli/common/messages.h"
#include "formats/front.h"

/* Print how many names change when n containers are merged into path, and the first of them.
 * Returns an exit code; without memory it prints a message. */
int cli_shard_names_report(const cli_common *common, const char *path, const formats_front *shard,
                           size_t n);

#endif
