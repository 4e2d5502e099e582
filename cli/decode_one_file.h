/* decode_one_file.h -- decodes into one file: a picture, or all images as IDX or CIFAR. */
#ifndef CLI_DECODE_ONE_FILE_H
#define CLI_DECODE_ONE_FILE_H
#include "cli/decode_images.h"

/* Decode all images of the plan into memory, and write the file; for IDX a file of labels, too.
 * Returns an exit code, after a message. */
int cli_decode_to_one_file(cli_decode_job *j, uint32_t groups);

#endif
