/* encode_quality.h -- where the images of `taper encode` end: --quality, --best and --least-psnr.
 *
 * A lossy source has errors already, and bytes that keep these exactly are wasted. So the qualities
 * with a name end an image where what taper adds is small beside them, or where few eyes see a
 * difference, whichever takes fewer bytes. Numbers are taken as they are. */
#ifndef CLI_ENCODE_QUALITY_H
#define CLI_ENCODE_QUALITY_H
#include "codec/taper.h"
#include "formats/metadata/picture_metadata.h"

typedef enum cli_quality_kind {
    CLI_QUALITY_BEST,
    CLI_QUALITY_NAMED,
    CLI_QUALITY_DB
} cli_quality_kind;

typedef struct cli_quality {
    cli_quality_kind kind;
    double psnr_db;   /* of an image without errors; with CLI_QUALITY_DB of each image */
    double beside_db; /* how far the added error is below that of a lossy source */
    double least_db;  /* each image reaches at least this; 0: no floor */
} cli_quality;

/* The range of numbers. */
#define CLI_QUALITY_LEAST_DB 20.0
#define CLI_QUALITY_MOST_DB  60.0

/* Fill *quality from "visual", "high", "best" or a number of dB. Nonzero: text is none of these. */
int cli_quality_parse(const char *text, cli_quality *quality);

/* The PSNR in dB at which an image with these metadata ends; 0: with all its passes. */
double cli_quality_aim(const cli_quality *quality, const formats_metadata *metadata);

#endif
