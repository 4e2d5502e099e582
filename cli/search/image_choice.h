/* image_choice.h -- which images of a set the words of --image mean, the same for all verbs.
 *
 * A word is a number, from 1; a name; a range of numbers, 7-9; a name in another normal form of
 * Unicode, or the end of its path, or with the suffix that a decoded file has (".png"), or had
 * before it was decoded, where one image alone fits, or one alone in its own bytes; or a pattern of
 * the shell: * ? [ ]. What is first in this order counts. */
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

/* Mark in wanted[count] the images that an argument means: a word, or words with commas between.
 * Returns an exit code; what fits no image, or is a name of several, is said. */
int cli_images_choose(const cli_image_choice *choice, const char *argument, bool *wanted);

#endif
