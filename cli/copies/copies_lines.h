/* copies_lines.h -- groups of copies as CSV or JSON lines. */
#ifndef CLI_COPIES_LINES_H
#define CLI_COPIES_LINES_H
#include "cli/copies/copies_found.h"

/* Write CSV with the heading group,image,keep: groups by number from 1; the name of the image, or
 * its number from 1 where it has none; 1, 0 or "link". With --json a line per image,
 * {"schema":1,"kind":"copy",...}. Returns the status of the sink, or TAPER_ERR_NOMEM. */
taper_status cli_put_copies_lines(const cli_found_copies *found, const taper_sink *sink);

/* The name of an image as it is written: the path of its file; of images that share a file, or are
 * in a container, the name there; or the number. Returns room, or a string of the set. */
const char *cli_copy_name(const cli_found_copies *found, size_t image, char room[CLI_IMAGE_NAME]);

#endif
