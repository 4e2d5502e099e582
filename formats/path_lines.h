/* path_lines.h -- lists of paths in a file, one per line. */
#ifndef FORMATS_PATH_LINES_H
#define FORMATS_PATH_LINES_H
#include "formats/status.h"

/* Takes one path; relative_at: where the text of the line begins in it. A failure ends the list. */
typedef taper_status formats_take_path(void *user, const char *path, size_t relative_at);

/* Pass each path of a list to `take`. list_path: a file, or "-", standard input. Paths of lines are
 * relative to the folder of the list; those of standard input to the current one. Empty lines are
 * skipped, and "\r" at the end of a line. null_ended: each path ends in a NUL byte instead.
 * The errors of `take`, which fills *error itself; TAPER_ERR_IO, _LIMIT, _NOMEM: the list cannot be
 * read; TAPER_ERR_CORRUPT: it has NUL bytes, without null_ended, and the message ends in `remedy`,
 * such as "give --null". */
taper_status formats_path_lines_read(const char *list_path, int null_ended, const char *remedy,
                                     const taper_limits *limits, formats_take_path *take,
                                     void *user, taper_error *error);

#endif
