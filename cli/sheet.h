/* sheet.h -- a contact sheet: small versions of images in a grid, as one picture or as a page. */
#ifndef CLI_SHEET_H
#define CLI_SHEET_H
#include "codec/taper.h"
#include <stdio.h>

/* A small version of an image. */
typedef struct cli_tile {
    taper_image image; /* 3 channels, 8 bits, the longer side at most that of the sheet's tiles;
                          * pixels NULL: it could not be decoded */
    uint32_t of_width, of_height; /* of the whole image */
    uint64_t number;              /* of the image in the container, from 1 */
    const char *name;             /* NULL: none. Borrowed */
} cli_tile;

/* Decode image i to a tile whose longer side has at most `side` pixels. Of a large image only as
 * much is decoded as that size shows. Transparent parts are on white. tile->name: the container's.
 * TAPER_ERR_CORRUPT: as of taper_decoder_render; the tile is valid if it has pixels. Its pixels are
 * the caller's to free. */
taper_status cli_tile_decode(cli_tile *tile, const taper_container *container,
                             const taper_decode_options *options, uint64_t i, uint32_t side,
                             taper_error *error);

/* Columns of a sheet of n tiles that is about as wide as it is high. n: 1 or more. */
uint32_t cli_sheet_columns(uint64_t n);

/* Draw n tiles into one picture, row after row, each centred in a square of `side` pixels, on white
 * with a gap of `gap` pixels. columns: 1 to n. The caller frees the picture. TAPER_ERR_LIMIT: it is
 * larger than the limits allow. */
taper_status cli_sheet_draw(const cli_tile *tile, uint64_t n, uint32_t columns, uint32_t side,
                            uint32_t gap, const taper_limits *limits, taper_image *out,
                            taper_error *error);

/* Write a page with the tiles, their names and sizes, which needs no other file. side: that of
 * the tiles. title: a sentence for its head. TAPER_ERR_NOMEM. */
taper_status cli_sheet_page(const cli_tile *tile, uint64_t n, uint32_t side, const char *title,
                            FILE *to, taper_error *error);

#endif
