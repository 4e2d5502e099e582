/* picture_files.h -- writes the files of decoded images, all below the output folder.
 *
 * The path of the output folder may contain links. Below it no link is followed, neither to a
 * folder nor to a file. Names that the file system does not accept are reported and skipped. A file
 * that decode did not write, or that was changed since, is not replaced, even with -f. A mark
 * (formats/images/own_mark.h) in each file shows that. */
#ifndef CLI_PICTURE_FILES_H
#define CLI_PICTURE_FILES_H
#include "cli/picture_plan.h"
#include "formats/metadata/picture_metadata.h"

/* Set name, change, folder and refused of the plan. On failure prints a message and returns an exit
 * code. */
int cli_picture_files_plan(cli_picture_plan *plan, const cli_decode_request *request,
                           const taper_container *container);
void cli_picture_files_free(cli_picture_plan *plan);

/* Encode an image as a file, with its metadata unless it is PNM. *bytes is the caller's to free;
 * NULL on failure. */
taper_status cli_picture_encode(const cli_picture_form *form, const taper_image *image,
                                const formats_metadata *metadata, uint8_t **bytes, size_t *size,
                                taper_error *error);

/* Write file k of the plan, or the only file, with metadata and time of the image. overwrite:
 * replace an existing file. The bytes are not synced, see cli_pictures_sync. CLI_SOME_FAILED: the
 * file system does not accept the name, which is printed once. Threads may write different k at
 * once. */
int cli_picture_put(const cli_picture_plan *plan, const cli_decode_request *request, uint64_t k,
                    const taper_image *image, bool overwrite);

/* A picture that is rendered while it is written. */
typedef struct cli_picture_rows {
    taper_decoder *decoder;
    uint64_t image; /* in the container */
    uint32_t scale;
    const taper_crop *crop; /* NULL: all of it */
    taper_image size;       /* of the picture: width, height, channels, depth */
} cli_picture_rows;
/* As cli_picture_put, for PNG and PNM, without the whole picture in memory. *rendered: the status
 * of taper_decoder_render_rows, with its text in *error. After TAPER_ERR_CORRUPT the file is
 * written; other failures are printed. */
int cli_picture_put_rows(const cli_picture_plan *plan, const cli_decode_request *request,
                         uint64_t k, const cli_picture_rows *of, taper_completeness *done,
                         taper_status *rendered, taper_error *error);

/* How many names of the plan were refused; prints that number unless it is 0. */
uint64_t cli_pictures_refused(const cli_picture_plan *plan, const cli_decode_request *request);

/* Flush all files to the disk; call it after the last picture. */
void cli_pictures_sync(void);

#endif
