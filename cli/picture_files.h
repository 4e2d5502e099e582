/* picture_files.h -- the files of decoded images, all below the output folder.
 *
 * The folder itself is the user's word and may be reached by links. Below it no link is followed:
 * not a folder on the way to a file, not a file. Names of which the file system will have nothing
 * are said and left out. A file that decode did not write, or that was changed since, is not
 * replaced, even with -f: PNG files say in a chunk tEXt what they were, PNM files in a comment. */
#ifndef CLI_PICTURE_FILES_H
#define CLI_PICTURE_FILES_H
#include "cli/picture_plan.h"

/* Fill in the plan's names, folder and refused. Prints what is wrong and returns an exit code. */
int cli_picture_files_plan(cli_picture_plan *plan, const cli_decode_request *request,
                           const taper_decoder *decoder);
void cli_picture_files_free(cli_picture_plan *plan);

/* An image as bytes of a PNG or PNM file; *bytes is the caller's to free, NULL on failure. */
taper_status cli_picture_encode(cli_picture_format format, const taper_image *image,
                                uint8_t **bytes, size_t *size, taper_error *error);

/* Write file k of the plan, or the one file. overwrite: what is there is replaced. The bytes are
 * not synced, see cli_pictures_settle. CLI_SOME_FAILED: the name is refused, which is said once.
 * Different k from different threads. */
int cli_picture_put(const cli_picture_plan *plan, const cli_decode_request *request, uint64_t k,
                    const taper_image *image, bool overwrite);

/* How many of the plan's names were refused; says it, where there are any. */
uint64_t cli_pictures_refused(const cli_picture_plan *plan, const cli_decode_request *request);

/* After the last of many pictures: have the system put all on the disk. */
void cli_pictures_settle(void);

#endif
