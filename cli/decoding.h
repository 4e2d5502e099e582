/* decoding.h -- what both ways of `taper decode` share, from a file at once and from a pipe as it
 * arrives: which images, into one file or a folder, in which format. The folder's files are
 * picture_files.h's. */
#ifndef CLI_DECODING_H
#define CLI_DECODING_H
#include "cli/common/inputs.h"
#include "cli/picture_plan.h"

/* Choose the images and, by the output's name, what to make of them; for a folder name the files
 * (unique: from the container, or numbers from 000001 on), make the folders, and see that nothing
 * is in the way (unless -f). Prints what is wrong and returns an exit code; the plan is then empty.
 */
int cli_picture_plan_make(cli_picture_plan *plan, const cli_decode_request *request,
                          const taper_decoder *decoder);
void cli_picture_plan_free(cli_picture_plan *plan);

/* The place of an image in the plan; UINT64_MAX: it is not wanted. */
uint64_t cli_picture_plan_find(const cli_picture_plan *plan, uint64_t image);

/* Memory for rendering one image after another. */
typedef struct cli_canvas {
    taper_image image;
    size_t room;
} cli_canvas;
/* Render image i. As taper_decoder_render: with TAPER_ERR_CORRUPT the pixels are valid. */
taper_status cli_canvas_render(cli_canvas *canvas, taper_decoder *decoder, uint64_t i,
                               taper_completeness *done, taper_error *error);
void cli_canvas_free(cli_canvas *canvas);

/* "3 of 7 passes"; "7 passes" where nothing is missing, whatever the last layer holds. */
void cli_passes_words(uint32_t passes, uint32_t of, char to[48]);

/* decode --progressive: push the input's bytes as they arrive and rewrite the files, a few times a
 * second at most. model: the one given, or empty, to be filled with one that is built in. Returns
 * the exit code. */
int cli_decode_progressive(const cli_decode_request *request, cli_model *model);

/* decode --levels: print them (codec/decoder/levels.h) on standard output. front: the source's.
 * Returns the exit code. */
int cli_decode_levels(const cli_decode_request *request, const formats_front *front,
                      const taper_source *source);

#endif
