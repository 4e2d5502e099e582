/* index_shard.h -- --shard and --resume of `index`: of a set of images as `encode` has them; of
 * containers also.
 *
 * A container that is itself a shard, and the only input, gives its part to the index. So indexes
 * of the shards of `encode` are shards, too. */
#ifndef CLI_INDEX_SHARD_H
#define CLI_INDEX_SHARD_H
#include "cli/search/code_set.h"
#include "cli/shard.h"

/* Choose the images of an open set that are the shard's, for cli_code_set.first and .end; if the
 * index is to say what it was made of, read the inputs for that. how: the model and all options on
 * which the index depends. Returns an exit code. */
int cli_index_shard_take(cli_shard *shard, cli_code_set *set, const char *how);

#endif
