/* decoding.h -- the plan of `taper decode`: which images, into one file or a folder, in which
 * format. Used for files and, with --progressive, for pipes. picture_files.h writes the files of a
 * folder. */
#ifndef CLI_DECODING_H
#define CLI_DECODING_H
#include "cli/common/inputs.h"
#include "cli/picture_plan.h"

/* Choose the images, and the format by the name of the output. For a folder: name the files (unique
 * names from the container, or numbers from 000001), create the folders, and check that no file
 * exists (unless -f). On failure prints a message and returns an exit code; the plan is then empty.
 */
int cli_picture_plan_make(cli_picture_plan *plan, const cli_decode_request *request,
                          const taper_container *container);
void cli_picture_plan_free(cli_picture_plan *plan);
/* True if the output is one file, false for a folder; and the format that is written. */
bool cli_picture_goes_to_file(const cli_decode_request *request, cli_picture_format *format);

/* The index of an image in the plan; UINT64_MAX: not in the plan. */
uint64_t cli_picture_plan_find(const cli_picture_plan *plan, uint64_t image);

/* An image buffer that is reused for several images. */
typedef struct cli_canvas {
    taper_image image;
    size_t room;
} cli_canvas;
/* What is rendered of an image: a rectangle, NULL: all of it, at 1 / scale of its size. */
typedef struct cli_view {
    uint32_t scale;
    const taper_crop *crop;
} cli_view;
/* Render image i into canvas->image. As taper_decoder_render_crop: after TAPER_ERR_CORRUPT the
 * pixels are valid. */
taper_status cli_canvas_render(cli_canvas *canvas, taper_decoder *decoder, uint64_t i,
                               const cli_view *view, taper_completeness *done, taper_error *error);
/* Width, height, channels and depth of these pixels, and their size in bytes. The crop may lie
 * outside of the image: then it is cut, to 1 x 1 at least. */
taper_image cli_view_size(const cli_view *view, const taper_image_info *info);
uint64_t cli_view_bytes(const cli_view *view, const taper_image_info *info);
void cli_canvas_free(cli_canvas *canvas);

/* "3 of 7 passes", or "7 passes" if none is missing. */
void cli_passes_words(uint32_t passes, uint32_t of, char to[48]);

/* decode --progressive: push the bytes of the input as they arrive and rewrite the files, at most a
 * few times a second. Returns the exit code. */
int cli_decode_progressive(const cli_decode_request *request);

/* decode --levels: print the levels (codec/decoder/levels.h) of the container, cut to `cut` bytes,
 * on standard output. Returns the exit code. */
int cli_decode_levels(const cli_decode_request *request, const taper_container *container,
                      uint64_t cut);

#endif
