/* align.h -- finds how one grey version lies within another: shifted, scaled, turned a little. */
#ifndef CLI_COPIES_ALIGN_H
#define CLI_COPIES_ALIGN_H
#include "cli/copies/grey.h"

/* (x, y) becomes (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]). The sides of an image run from
 * -1 to 1. */
typedef struct cli_map {
    float m[6];
} cli_map;

/* The map that first does `inner`, then `outer`. */
cli_map cli_map_after(const cli_map *outer, const cli_map *inner);
/* False: there is no inverse; *map is unchanged. */
bool cli_map_invert(cli_map *map);

/* A grey version in one size, in a frame of one pixel that repeats its edge. */
enum { CLI_HALF_SIDE = CLI_GREY_SIDE / 2, CLI_QUARTER_SIDE = CLI_GREY_SIDE / 4 };
#define CLI_FRAMED(side) (((side) + 2) * ((side) + 2))

/* A grey version as align and check need it: in three sizes; of that to which another one is
 * compared, also the slopes per unit of x and of y of the smaller ones. */
typedef struct cli_template {
    float whole[CLI_FRAMED(CLI_GREY_SIDE)];
    float half[CLI_FRAMED(CLI_HALF_SIDE)], quarter[CLI_FRAMED(CLI_QUARTER_SIDE)];
    float half_x[CLI_HALF_SIDE * CLI_HALF_SIDE], half_y[CLI_HALF_SIDE * CLI_HALF_SIDE];
    float quarter_x[CLI_QUARTER_SIDE * CLI_QUARTER_SIDE],
        quarter_y[CLI_QUARTER_SIDE * CLI_QUARTER_SIDE];
} cli_template;

/* Without slopes. */
void cli_template_make(cli_template *to, const uint8_t grey[CLI_GREY_PIXELS]);
void cli_template_take_slopes(cli_template *of);

/* The pixel in column x and row y of a framed version. */
static inline const float *cli_framed(const float *pixel, unsigned side, unsigned x, unsigned y) {
    return pixel + (size_t)(y + 1) * (side + 2) + x + 1;
}

/* Take the pixels of a framed version at the places to which a map brings those of another one of
 * the same size: value[side * side], linear between pixels. weight[side * side]: 1, or 0 for places
 * outside. Returns how many are inside. */
unsigned cli_look_up(const float *pixel, unsigned side, const cli_map *map, float *value,
                     float *weight);

/* Find the map from points of a to those of b at which both look alike, but for brightness and
 * contrast; *map: where to begin. By Gauss-Newton steps on the quarter and the half versions
 * (Lucas and Kanade, "An iterative image registration technique", 1981; Baker and Matthews,
 * "Lucas-Kanade 20 years on", 2004), with less weight for what differs much. a has slopes. False:
 * there is no such map near the beginning, or one on which they correlate less than `least`. */
bool cli_align(const cli_template *a, const cli_template *b, float least, cli_map *map);

/* The same on the whole versions alone, for maps that are nearly right: fine structure, such as
 * text, is missing in the smaller ones. */
bool cli_align_whole(const cli_template *a, const cli_template *b, cli_map *map);

#endif
