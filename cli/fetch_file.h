/* fetch_file.h -- the beginning of a file behind a URL into a file, which goes on where it ended.
 *
 * Every beginning of a container is a container. So the file is written in its place, and what has
 * come stays, also after ^C. */
#ifndef CLI_FETCH_FILE_H
#define CLI_FETCH_FILE_H
#include "cli/common/inputs.h"

typedef struct cli_fetch_file {
    const char *url, *path; /* path: "-" is standard output */
    const cli_common *common;
    const cli_stream *stream; /* of the URL */
    uint64_t front;           /* bytes without which the file is not begun, and that identify it */
    uint64_t bytes;           /* to have in the end */
    double seconds;           /* to end after; 0: never */
} cli_fetch_file;

/* *had: bytes that were there; *has: that are there now. Returns an exit code, after a message:
 * CLI_IO also if there is another file, without -f. */
int cli_fetch_to_file(const cli_fetch_file *f, uint64_t *had, uint64_t *has);

#endif
