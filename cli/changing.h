/* changing.h -- verbs that change a container: into its place, or into another file.
 *
 * In its place, the container is replaced in one step by a file that was written and flushed
 * before; until then it is unchanged. */
#ifndef CLI_CHANGING_H
#define CLI_CHANGING_H
#include "cli/chosen_images.h"
#include "cli/common/outputs.h"

typedef struct cli_change {
    const char *verb, *path, *output; /* output NULL: in place */
    const cli_common *common;
    cli_container container;
    cli_output out;
} cli_change;

/* Open the container. CLI_USAGE: standard input cannot be changed in its place. CLI_IO also: it is
 * write-protected, and there is no -f. On failure it needs no close. */
int cli_change_open(cli_change *change, const char *verb, const char *path, const char *output,
                    const cli_common *common);
void cli_change_close(cli_change *change);

/* Open the output; then write to cli_output_sink(&change->out); then put it in place. Each returns
 * an exit code, after a message. */
int cli_change_begin(cli_change *change);
int cli_change_end(cli_change *change, taper_status status, const taper_error *error);
/* "photos.taper", or "out.taper" after -o; for messages. */
const char *cli_change_target(const cli_change *change);

#endif
