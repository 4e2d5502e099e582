/* iiif.h -- paths of the IIIF Image API 3.0 (https://iiif.io/api/image/3.0/).
 *
 *     /iiif/IDENTIFIER                                      the image: leads to info.json
 *     /iiif/IDENTIFIER/info.json                            what there is
 *     /iiif/IDENTIFIER/REGION/SIZE/ROTATION/QUALITY.FORMAT  a picture
 *
 * An identifier is the path of a container, a slash, and the name or number of an image, in percent
 * escapes: "set.taper%2Fcat%2F1.png". Compliance level 1, and of level 2 the format png, the
 * quality color, and regions and sizes in percent and within a box. */
#ifndef SERVE_REQUEST_IIIF_H
#define SERVE_REQUEST_IIIF_H
#include "serve/request/target.h"
#include <stdint.h>

typedef enum serve_iiif_kind {
    SERVE_IIIF_BASE,
    SERVE_IIIF_INFO,
    SERVE_IIIF_PICTURE
} serve_iiif_kind;

typedef enum serve_iiif_region {
    SERVE_REGION_FULL,
    SERVE_REGION_SQUARE,
    SERVE_REGION_PIXELS,
    SERVE_REGION_PERCENT
} serve_iiif_region;

typedef enum serve_iiif_size {
    SERVE_SIZE_MAX,
    SERVE_SIZE_WIDTH,
    SERVE_SIZE_HEIGHT,
    SERVE_SIZE_BOTH,
    SERVE_SIZE_WITHIN, /* !w,h */
    SERVE_SIZE_PERCENT
} serve_iiif_size;

/* Numbers of pixels are whole; those of percents have up to six digits behind the point and are in
 * millionths: 100 % is 100,000,000. */
typedef struct serve_iiif {
    serve_iiif_kind kind;
    char identifier[SERVE_PATH_BYTES]; /* a clean path, without escapes */
    serve_iiif_region region;
    uint64_t x, y, width, height; /* of the region */
    serve_iiif_size size;
    uint64_t to_width, to_height; /* to_width: also the percents of the size */
    int is_png;
} serve_iiif;

/* Read path[n], what follows "/iiif/", still escaped. Returns 0, or the status of HTTP with *why:
 * 400, it is not legal; 404, the identifier cannot exist; 501, it is legal, and not supported. */
int serve_iiif_read(const char *path, size_t n, serve_iiif *out, const char **why);

/* A picture of an image of known size. */
typedef struct serve_iiif_picture {
    uint32_t x, y, width, height; /* the region, within the image */
    uint32_t to_width, to_height; /* the size of the picture, at most that of the region */
} serve_iiif_picture;

/* The same for an image of width x height, both 1..2^31; most_area: pixels of the largest picture,
 * to which "max" is reduced. Returns 0, or 400 with *why: the region lies outside or is empty, or
 * the picture would be larger than the region or than most_area. */
int serve_iiif_fit(const serve_iiif *asked, uint32_t width, uint32_t height, uint64_t most_area,
                   serve_iiif_picture *out, const char **why);

enum { SERVE_CANONICAL_BYTES = 128 };
/* The canonical form of region, size, rotation, quality and format: "full/max/0/default.jpg". */
void serve_iiif_canonical(const serve_iiif_picture *picture, uint32_t width, uint32_t height,
                          int is_png, char to[SERVE_CANONICAL_BYTES]);

#endif
