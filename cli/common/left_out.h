/* left_out.h -- inputs that give no image: how they are told and counted.
 *
 * What is wrong with one file alone is told as it is met, with the file's name. What many have in
 * common, as icons with alpha do, and files of a format that is not read, is gathered and told
 * once, with their number and the first's name; -v names them all, and gathers nothing. */
#ifndef CLI_LEFT_OUT_H
#define CLI_LEFT_OUT_H
#include "cli/common/messages.h"
#include "formats/imageset.h"

enum { CLI_ALIKE_MOST = 32, CLI_ALIKE_NAME = 512 };

/* Inputs of which the same is to be said. */
typedef struct cli_alike {
    size_t count;
    char sentence[sizeof((taper_error *)0)->text];
    char first[CLI_ALIKE_NAME];
} cli_alike;

typedef struct cli_left_out {
    const cli_common *common; /* these four set by the verb */
    const char *verb;
    const char *output; /* an earlier result met in a folder is no input; NULL: none */
    int stores;         /* images go into a container: what it does not keep of files is told */
    size_t failed;      /* inputs that failed; others were done: exit code 1 */
    cli_exit code;      /* the exit code that says why, when there are no others */
    /* its own */
    size_t files; /* of the failures: files that gave no image, or too few */
    size_t told;  /* failures that have a line of their own */
    cli_alike alike[CLI_ALIKE_MOST], no_image, links, hidden;
    size_t kinds;
} cli_left_out;

/* For formats_imageset_open; user is the cli_left_out. */
void cli_left_out_file(void *user, formats_skip what, const char *path, const taper_error *why);
/* An image of the set that cannot be used, by this status: CLI_DONE. Where the system is at fault
 * (short memory, a read that is refused) the run is to end: the exit code, and nothing is counted.
 */
int cli_left_out_image(cli_left_out *l, const char *path, taper_status status,
                       const taper_error *why);

/* When all inputs have been read: tell what was gathered, among it what was dropped (colour
 * profiles, EXIF data, further pictures), and how many of the set's images and of the files that
 * gave none were left out. set may be NULL: there is none. */
void cli_left_out_tell(cli_left_out *l, const formats_imageset *set);
/* The same of so many images that are in no set. */
void cli_left_out_tell_of(cli_left_out *l, size_t images);
#endif
