/* decoding.h -- what both ways of `taper decode` share, from a file at once and from a pipe as it
 * arrives: which images, under which names, in which format. */
#ifndef CLI_DECODING_H
#define CLI_DECODING_H
#include "../codec/taper.h"
#include "cli.h"
#include "inputs.h"

typedef enum cli_picture_format {
    CLI_PICTURE_PNG,
    CLI_PICTURE_PNM,
    CLI_PICTURE_IDX,  /* these two hold all images in one file */
    CLI_PICTURE_CIFAR
} cli_picture_format;

typedef struct cli_decode_request {
    const cli_common *common;
    const char *input, *output; /* paths, or "-" */
    const char *image;          /* number from 1, or name; NULL: all */
    cli_picture_format format;
    bool one_file;              /* output is the file itself, not a folder */
    bool strict;
    const taper_model *model;   /* NULL: the container carries its own */
    taper_limits limits;
} cli_decode_request;

/* The images to write and their files. */
typedef struct cli_picture_plan {
    uint64_t first, count;
    char **path; /* [count]; NULL when they go into one file */
} cli_picture_plan;

/* Choose the images, name their files inside the output folder, make the folders, and see that no
 * file is in the way (unless -f). Prints what is wrong and returns an exit code; the plan is then
 * empty. Names come from the container, made safe and unique, or are numbers from 000001 on. */
int cli_picture_plan_make(cli_picture_plan *plan, const cli_decode_request *request,
                          const taper_decoder *decoder);
void cli_picture_plan_free(cli_picture_plan *plan);

/* An image as bytes of a PNG or PNM file; *bytes is the caller's to free, NULL on failure. */
taper_status cli_picture_encode(cli_picture_format format, const taper_image *image,
                                uint8_t **bytes, size_t *size, taper_error *error);
/* And into a file. flags as formats_atomic_file_open; the bytes are not synced, see
 * cli_pictures_settle. */
taper_status cli_picture_write(const char *path, cli_picture_format format,
                               const taper_image *image, unsigned flags, taper_error *error);
/* After the last of many pictures: have the system put all on the disk. */
void cli_pictures_settle(void);

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
