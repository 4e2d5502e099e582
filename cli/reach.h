/* reach.h -- how far a cut reaches under the layout `image`, where a prefix of the file is not all
 * images coarser, but some images whole and the rest not there. */
#ifndef CLI_REACH_H
#define CLI_REACH_H
#include "cli/common/json.h"
#include "cli/common/messages.h"
#include "formats/container.h"
#include <stdbool.h>

typedef enum cli_reach_kind { CLI_REACH_WHOLE, CLI_REACH_PART, CLI_REACH_MISSING } cli_reach_kind;

/* Is there something to say of this many bytes of the container? */
bool cli_reach_matters(const formats_front *front, uint64_t bytes);

/* What these bytes hold of an image. */
cli_reach_kind cli_reach_of(const formats_front *front, uint64_t bytes, uint32_t image);

/* "images 1-37 whole, 38 in part, 39-100 missing", numbered from 1; to has room for 256. Long lists
 * of ranges end with their count. */
void cli_reach_sentence(const formats_front *front, uint64_t bytes, char to[256]);

/* decode's note of it, where there is something to say. */
void cli_reach_tell(const cli_common *common, const formats_front *front, uint64_t bytes);

/* The members images_whole, images_in_part and images_missing: lists of [first, last]. */
void cli_reach_json(cli_json *j, const formats_front *front, uint64_t bytes);

#endif
