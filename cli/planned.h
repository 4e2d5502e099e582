/* planned.h -- a few images of a container of very many behind a URL: of its front matter only the
 * parts that they need are fetched (taper_decoder_plan). */
#ifndef CLI_PLANNED_H
#define CLI_PLANNED_H
#include "cli/common/inputs.h"
#include "cli/picture_plan.h"

typedef struct cli_planned {
    cli_container container; /* its `open` is the decoder's, and only for those images */
    taper_decoder *decoder;
} cli_planned;

/* True if this is a URL of such a container, and the images are chosen by numbers, ranges and whole
 * names. Then the front matter is there that they need. Otherwise, and after failures, nothing is
 * open: the container is opened as others are, which also says what is wrong. */
bool cli_planned_open(cli_planned *p, const cli_decode_request *q);
/* Fetch the data of the images, up to the cut. Returns an exit code, after a message. */
int cli_planned_fetch(cli_planned *p, const cli_decode_request *q, uint64_t cut);
void cli_planned_close(cli_planned *p); /* a zeroed one is fine */

#endif
