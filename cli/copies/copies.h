/* copies.h -- near copies in a set of images: `search --duplicates`.
 *
 * Directory cli/copies/: finds copies by pixels.
 *   copies        reads a set, finds its groups of copies and writes them
 *   grey          small grey versions of images
 *   small_set     those of a set
 *   descriptor    few numbers of a grey version
 *   candidates    pairs whose descriptors agree
 *   align         how one version lies within another
 *   check         whether two versions show the same
 *   groups        groups of copies
 *   links         images that are the same file by another name
 *   copies_found  what is told of each image of a group
 *   copies_lines  groups as CSV or JSON
 *   copies_page   groups as a page with pictures */
#ifndef CLI_COPIES_H
#define CLI_COPIES_H
#include "cli/search/code_set.h"

typedef struct cli_copies_options {
    cli_code_set *set;        /* open */
    const taper_model *model; /* of containers that do not carry theirs; or NULL */
    bool are_turned;          /* also copies that are mirrored or turned */
    const char *html;         /* write a page here; NULL: none */
} cli_copies_options;

/* Find the groups of copies and write them, as CSV with the heading group,image,keep or as JSON
 * lines, and the page. What cannot be read is reported, and counted in set->left. *written: status
 * of the sink. For other failures prints a message and returns an exit code. */
int cli_put_copies(const cli_copies_options *options, const taper_sink *sink,
                   taper_status *written);

#endif
