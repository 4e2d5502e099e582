/* map.h -- a page with a map of codes: a point for each image, which shows the image, and its
 * neighbours when clicked. A self-contained HTML file.
 *
 *     int code = cli_map_open(&map, &set, path, width);
 *     code = cli_map_take(map, ...) for each block of codes, in order
 *     code = cli_map_finish(map);
 *     code = cli_map_close(map, code);
 *
 * Codes of two numbers are shown unchanged, others by their first two principal components. With
 * more than CLI_MAP_MOST images only every second, third ... has a point, which is printed. */
#ifndef CLI_MAP_H
#define CLI_MAP_H
#include "cli/search/code_set.h"

enum { CLI_MAP_MOST = 60000 };

typedef struct cli_map cli_map;

/* set: must stay open until the map is closed. On failure prints a message and returns an exit
 * code; nothing is allocated then. */
int cli_map_open(cli_map **map, const cli_code_set *set, const char *path, size_t width);
/* Add n images of the set and their codes[n][width]. image: NULL for containers. Returns an exit
 * code. */
int cli_map_take(cli_map *map, const size_t *number, const taper_image *image, size_t n,
                 const float *codes);
/* Find neighbours and write the page; it is not put in place yet (cli_output_finish). NULL is fine.
 */
int cli_map_finish(cli_map *map);
/* With CLI_DONE put the finished page in place, else remove it. NULL is fine. Returns `code`, or
 * the exit code of a failure here. */
int cli_map_close(cli_map *map, int code);

#endif
