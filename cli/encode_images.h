/* encode_images.h -- gives the images of a set to the encoder. Some threads read them ahead
 * (readahead.h), the threads of the encoder code them. */
#ifndef CLI_ENCODE_IMAGES_H
#define CLI_ENCODE_IMAGES_H
#include "cli/encode_run.h"

/* What is kept of metadata. --psnr is no limit of the size: what is wanted is a quality. */
cli_keeps cli_encode_keeps(const cli_encode_run *st);
/* Make st->encoder. On failure prints a message and returns an exit code. */
int cli_encode_begin(cli_encode_run *st);
/* Add all images, and the names of those that are equal to others. Sets kept, same, their counts,
 * and pixels. What cannot be used is reported, and left out. Returns an exit code. */
int cli_encode_add_images(cli_encode_run *st);

#endif
