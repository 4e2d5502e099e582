/* index_list.h -- several index files as one: their images are numbered one file after the other,
 * in the order that is given.
 *
 * Functions that return int print what went wrong and return an exit code; CLI_DONE is 0. */
#ifndef CLI_INDEX_LIST_H
#define CLI_INDEX_LIST_H
#include "cli/index/index_file.h"

typedef struct cli_index_list {
    cli_index all; /* .index: taper_index_join of the parts */
    cli_index *part;
    char *const *path; /* [n] the caller's */
    uint64_t *end;     /* [n] one past the last image of each part */
    size_t n;          /* number of open parts; 0: unused */
} cli_index_list;

/* If the first path is an index, move all that are indexes, or are named .tpx, to the front, in
 * their order. Returns how many these are. */
size_t cli_index_paths_first(char **paths, size_t n);

/* Map n files, 1 or more. None stays open. Refuses indexes of different models or code lengths, and
 * two with the same contents or of the same part of a set; the message names the file. */
int cli_index_list_open(cli_index_list *list, const char *verb, char *const *paths, size_t n,
                        const cli_common *common);
void cli_index_list_close(cli_index_list *list); /* a zeroed one is fine */

/* The path of the file that holds an image; NULL: the list is unused or NULL. */
const char *cli_index_list_path(const cli_index_list *list, uint64_t image);

#endif
