/* row_writer.h -- PNG and PNM files written row by row, for images that are larger than memory. The
 * bytes are those of formats_png_encode_with and formats_pnm_encode_by.
 *
 *     formats_row_writer *w;
 *     TAPER_TRY(formats_row_writer_open(&w, FORMATS_ROWS_PNG, &image, &beside, &sink, error));
 *     status = formats_row_writer_put(w, &rows, error);            ... all rows, in order
 *     if (status == TAPER_OK) status = formats_row_writer_finish(w, error);
 *     formats_row_writer_free(w); */
#ifndef FORMATS_ROW_WRITER_H
#define FORMATS_ROW_WRITER_H
#include "formats/metadata/picture_metadata.h"
#include "formats/status.h"

typedef enum formats_rows_kind { FORMATS_ROWS_PNG, FORMATS_ROWS_PNM } formats_rows_kind;

typedef struct formats_row_writer formats_row_writer;

/* What is written beside the pixels. */
typedef struct formats_rows_beside {
    const char *program;              /* the name of the program, as in png.h and pnm.h; or NULL */
    const formats_metadata *metadata; /* borrowed while a file is opened; PNM has none; or NULL */
} formats_rows_beside;

/* Begin a file. image: its size, channels and depth; pixels are not used. to: copied; gets the
 * bytes. On failure *out is NULL. TAPER_ERR_UNSUPPORTED: PNM with alpha. TAPER_ERR_NOMEM; errors of
 * the sink. */
taper_status formats_row_writer_open(formats_row_writer **out, formats_rows_kind kind,
                                     const taper_image *image, const formats_rows_beside *beside,
                                     const taper_sink *to, taper_error *error);
/* Write the next rows->height rows. TAPER_ERR_ARG: they are of another width, channels or depth. */
taper_status formats_row_writer_put(formats_row_writer *writer, const taper_image *rows,
                                    taper_error *error);
/* End the file. TAPER_ERR_ARG: rows are missing. */
taper_status formats_row_writer_finish(formats_row_writer *writer, taper_error *error);
void formats_row_writer_free(formats_row_writer *writer); /* NULL is fine */

#endif
