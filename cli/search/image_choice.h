/* image_choice.h -- selects images of a set by the argument of --image; the same for all verbs.
 *
 * A word is the first of these that fits:
 *     a number, from 1
 *     a name
 *     a range of numbers, 7-9
 *     a name that fits a single image in one of these ways: in another Unicode form; by the end of
 *     its path; with the suffix of a decoded file (".png"), or with that of the original file. If
 *     several names differ only in Unicode form, the one with exactly these bytes counts
 *     a shell pattern: * ? [ ] */
#ifndef CLI_IMAGE_CHOICE_H
#define CLI_IMAGE_CHOICE_H
#include <stdbool.h>
#include <stdint.h>

typedef struct cli_image_choice {
    const char *verb, *path; /* for messages */
    uint64_t count;
    const char *(*name)(const void *of, uint64_t i); /* as stored; NULL: none */
    const void *of;
} cli_image_choice;

/* Set wanted[count] for the images that an argument selects. argument: words separated by commas.
 * Returns an exit code, after a message if a word fits no image, or is a name of several. */
int cli_images_choose(const cli_image_choice *choice, const char *argument, bool *wanted);

#endif
