/* map.h -- a page on which people look at codes: a point for each image, which shows it, and its
 * neighbours when it is clicked. One HTML file with all that it needs, which works offline.
 *
 *     int code = cli_map_open(&map, &set, path, width);
 *     code = cli_map_take(map, ...) for each block of codes, in order
 *     code = cli_map_finish(map);
 *     code = cli_map_close(map, code);
 *
 * Codes of two numbers are shown as they are, others by their first two principal components. Of
 * more than CLI_MAP_MOST images every second, third .. has a point, which is said. */
#ifndef CLI_MAP_H
#define CLI_MAP_H
#include "cli/search/code_set.h"

enum { CLI_MAP_MOST = 60000 };

typedef struct cli_map cli_map;

/* set: open, and open until closing. Prints what is wrong and returns an exit code; nothing is then
 * held. */
int cli_map_open(cli_map **map, const cli_code_set *set, const char *path, size_t width);
/* n images of the set, by number, NULL of containers, and their codes[n][width]. Returns an exit
 * code. */
int cli_map_take(cli_map *map, const size_t *number, const taper_image *image, size_t n,
                 const float *codes);
/* Find neighbours and write the page, which does not appear yet (cli_output_finish). NULL is fine.
 */
int cli_map_finish(cli_map *map);
/* With CLI_DONE put the page in place, once settled, else leave none. NULL is fine. Returns the
 * exit code: `code`, or that of a failure here. */
int cli_map_close(cli_map *map, int code);

#endif
