/* reach.h -- which images a cut of layout `image` contains. With that layout a prefix of the file
 * has some images completely, at most one in part, and not the others. */
#ifndef CLI_REACH_H
#define CLI_REACH_H
#include "cli/common/json.h"
#include "cli/common/messages.h"
#include "codec/taper.h"
#include <stdbool.h>

typedef enum cli_reach_kind { CLI_REACH_WHOLE, CLI_REACH_PART, CLI_REACH_MISSING } cli_reach_kind;

/* True if `bytes` of the container lack an image or a part of one. */
bool cli_reach_matters(const taper_container *container, uint64_t bytes);

/* How much of an image `bytes` of the container have. */
cli_reach_kind cli_reach_of(const taper_container *container, uint64_t bytes, uint64_t image);

/* "images 1-37 whole, 38 in part, 39-100 missing", numbered from 1. Long lists of ranges end with
 * their count. */
void cli_reach_sentence(const taper_container *container, uint64_t bytes, char to[256]);

/* Print a note of `decode`, if cli_reach_matters. */
void cli_reach_report(const cli_common *common, const taper_container *container, uint64_t bytes);

/* Write the members images_whole, images_in_part and images_missing: lists of [first, last]. */
void cli_reach_json(cli_json *j, const taper_container *container, uint64_t bytes);

#endif
