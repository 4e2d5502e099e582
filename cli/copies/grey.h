/* grey.h -- small grey versions of images, by which copies are found: 64 x 64 pixels, whatever the
 * size and shape of the image. */
#ifndef CLI_COPIES_GREY_H
#define CLI_COPIES_GREY_H
#include "formats/image.h"
#include <stdbool.h>

enum { CLI_GREY_SIDE = 64, CLI_GREY_PIXELS = CLI_GREY_SIDE * CLI_GREY_SIDE };

/* Make the grey version: each pixel is the mean luma of the area that it covers. Transparency is
 * blended onto white; onto black if all of it is white. The image, of any legal kind, is changed:
 * to 8 bits, without alpha. TAPER_ERR_NOMEM. */
taper_status cli_grey_make(taper_image *image, uint8_t grey[CLI_GREY_PIXELS]);

/* The eight ways to lay a picture: turned clockwise by 90 degrees (turn & 3) times, then mirrored
 * left to right if turn & 4. */
enum { CLI_TURNS = 8 };
void cli_grey_turn(const uint8_t from[CLI_GREY_PIXELS], unsigned turn, uint8_t to[CLI_GREY_PIXELS]);

#endif
