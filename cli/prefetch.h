/* prefetch.h -- the bytes of a container behind a URL that its images need: requested before they
 * are read, and many in one request. */
#ifndef CLI_PREFETCH_H
#define CLI_PREFETCH_H
#include "cli/common/inputs.h"

typedef struct cli_prefetch cli_prefetch;

/* For a container that is bound to its model. image: [count] those that will be decoded; NULL: all.
 * They are decoded up to `cut`, for 1 / scale (taper_decoder_set_scale). NULL if the container is
 * no URL, or is read as a whole. */
cli_prefetch *cli_prefetch_new(const cli_container *container, const uint64_t *image,
                               uint64_t count, uint64_t cut, uint32_t scale);
void cli_prefetch_free(cli_prefetch *p); /* NULL is fine */

/* Request the bytes of this group and of the next ones, unless they were requested. Threads may
 * call it at once. NULL is fine. */
void cli_prefetch_group(cli_prefetch *p, uint32_t group);

#endif
