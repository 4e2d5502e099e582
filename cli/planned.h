/* planned.h -- a few images of a container of very many, in a file or behind a URL: of its front
 * matter only the parts that they need are read (taper_decoder_plan). Of a file the result is
 * always that of reading all of it; behind a URL names of files are made from those of the chosen
 * images. */
#ifndef CLI_PLANNED_H
#define CLI_PLANNED_H
#include "cli/common/inputs.h"
#include "cli/picture_plan.h"

enum { CLI_PLANNED_MOST = 64 }; /* images; for more the front matter is read as a whole */
typedef struct cli_planned {
    cli_container container; /* its `open` is the decoder's, and only for those images */
    taper_decoder *decoder;
    uint64_t image[CLI_PLANNED_MOST]; /* [count] ascending */
    size_t count;
    uint64_t bytes; /* that were read of the container */
} cli_planned;

/* True if this is such a container, and the images are chosen by numbers, ranges and whole names.
 * Then the front matter is there that they need. Otherwise, and after failures, nothing is open:
 * the container is opened as others are, which also says what is wrong. */
bool cli_planned_open(cli_planned *p, const cli_decode_request *q);
/* False: with this cut the container is to be opened as others are. */
bool cli_planned_takes(cli_planned *p, uint64_t cut);
/* Read the data of the images, up to the cut. Returns an exit code, after a message. */
int cli_planned_fetch(cli_planned *p, const cli_decode_request *q, uint64_t cut);
void cli_planned_close(cli_planned *p); /* a zeroed one is fine */

#endif
