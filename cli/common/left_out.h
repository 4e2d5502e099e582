/* left_out.h -- reports and counts inputs that give no image.
 *
 * A problem of a single file is printed at once, with the name of the file. Problems that many
 * files have in common, such as alpha or a format that is not read, are collected and printed once,
 * with their number and the first name. With -v all files are named at once. */
#ifndef CLI_LEFT_OUT_H
#define CLI_LEFT_OUT_H
#include "cli/common/messages.h"
#include "formats/imageset/imageset.h"

enum { CLI_ALIKE_MOST = 32, CLI_ALIKE_NAME = 512 };

/* Inputs with the same problem. */
typedef struct cli_alike {
    size_t count;
    char sentence[sizeof(cli_sentence)];
    char first[CLI_ALIKE_NAME];
} cli_alike;

/* What a container keeps of metadata. */
typedef enum cli_keeps {
    CLI_KEEPS_ALL,
    CLI_KEEPS_LOOK, /* colour profiles, and what else changes the look */
    CLI_KEEPS_NOTHING
} cli_keeps;

typedef struct cli_left_out {
    /* Set by the verb. */
    const cli_common *common;
    const char *verb;
    const char *output; /* not used as an input when it is found in a folder; NULL: none */
    int stores;      /* 1: images go into a container; metadata that it does not keep is reported */
    cli_keeps keeps; /* with stores */

    /* Results. */
    size_t failed; /* inputs that failed; if others were processed: CLI_SOME_FAILED */
    cli_exit code; /* exit code if all inputs failed */

    /* Private. */
    size_t files;    /* failures that are files without an image, or with too few */
    size_t reported; /* failures that were printed on their own line */
    cli_alike alike[CLI_ALIKE_MOST], no_image, links, hidden;
    size_t kinds;
} cli_left_out;

/* For formats_imageset_open; user is the cli_left_out. */
void cli_left_out_file(void *user, formats_skip what, const char *path, const taper_error *why);
/* Count and report an image of the set that cannot be used: returns CLI_DONE. For errors of the
 * system (formats_is_system_error) returns their exit code, and the caller ends the run. */
int cli_left_out_image(cli_left_out *l, const char *path, taper_status status,
                       const taper_error *why);

/* After all inputs: print the collected problems, the metadata that was dropped (colour profiles,
 * EXIF data, further pictures), and how many images and files were left out. set may be NULL. */
void cli_left_out_report(cli_left_out *l, const formats_imageset *set);
/* The same for `images` images that are in no set. */
void cli_left_out_report_of(cli_left_out *l, size_t images);
#endif
