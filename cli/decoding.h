/* decoding.h -- what both ways of `taper decode` share, from a file at once and from a pipe as it
 * arrives: which images, into one file or a folder, in which format. The folder's files are
 * picture_files.h's. */
#ifndef CLI_DECODING_H
#define CLI_DECODING_H
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "codec/taper.h"

typedef enum cli_picture_format {
    CLI_PICTURE_PNG,
    CLI_PICTURE_PNM,
    CLI_PICTURE_IDX,  /* these two hold all images in one file */
    CLI_PICTURE_CIFAR
} cli_picture_format;

typedef struct cli_decode_request {
    const cli_common *common;
    const char *input, *output;  /* paths, or "-" */
    cli_strings images;          /* numbers from 1, ranges, names, or lists of them; none: all */
    cli_picture_format format;
    bool format_given;           /* else the output's name may say another */
    bool class_folders;          /* files go into folders named after their classes */
    bool progressive, strict;
    const taper_model *model;    /* NULL: the container carries its own */
    taper_limits limits;
} cli_decode_request;

/* The images to write and their files. */
typedef struct cli_picture_plan {
    uint64_t count;
    uint64_t *image; /* [count] rising; NULL: all */
    cli_picture_format format;
    bool one_file;   /* the output is the file itself, not a folder */
    char **name;     /* [count] below the output folder; NULL with one_file */
    bool *refused;   /* [count] the file system does not take the name, and that was said */
    int folder;      /* the output folder, open; -1 with one_file */
} cli_picture_plan;

/* Choose the images and, by the output's name, what to make of them; for a folder name the files
 * (unique: from the container, or numbers from 000001 on), make the folders, and see that nothing
 * is in the way (unless -f). Prints what is wrong and returns an exit code; the plan is then empty.
 */
int cli_picture_plan_make(cli_picture_plan *plan, const cli_decode_request *request,
                          const taper_decoder *decoder);
void cli_picture_plan_free(cli_picture_plan *plan);

static inline uint64_t cli_picture_plan_image(const cli_picture_plan *plan, uint64_t k) {
    return plan->image ? plan->image[k] : k;
}
/* The place of an image in the plan; UINT64_MAX: it is not wanted. */
uint64_t cli_picture_plan_find(const cli_picture_plan *plan, uint64_t image);

/* An image as bytes of a PNG or PNM file; *bytes is the caller's to free, NULL on failure. */
taper_status cli_picture_encode(cli_picture_format format, const taper_image *image,
                                uint8_t **bytes, size_t *size, taper_error *error);
/* Memory for rendering one image after another. */
typedef struct cli_canvas {
    taper_image image;
    size_t room;
} cli_canvas;
/* Render image i. As taper_decoder_render: with TAPER_ERR_CORRUPT the pixels are valid. */
taper_status cli_canvas_render(cli_canvas *canvas, taper_decoder *decoder, uint64_t i,
                               taper_completeness *done, taper_error *error);
void cli_canvas_free(cli_canvas *canvas);

/* decode --progressive: push the input's bytes as they arrive and rewrite the files, a few times a
 * second at most. model: the one given, or empty, to be filled with one that is built in. Returns
 * the exit code. */
int cli_decode_progressive(const cli_decode_request *request, cli_model *model);

/* decode --levels: print them (codec/levels.h) on standard output. front: the source's. Returns the
 * exit code. */
int cli_decode_levels(const cli_decode_request *request, const formats_front *front,
                      const taper_source *source);

#endif
