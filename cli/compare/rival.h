/* rival.h -- the interface of codecs with which taper is compared ("rivals").
 *
 * A rival codes one image at one setting and one quality, decodes it with the same library, and
 * counts the bytes in two accountings. `file` counts all bytes of the smallest legal file, without
 * optional markers, boxes or metadata. `payload` counts only the entropy-coded data (payload_is),
 * as if headers were free, which favours the rival. Each rival is a source file in this directory.
 * It is compiled if the build found the library, which is loaded when the rival is used. The table
 * has all rivals, so that messages can name a missing one. */
#ifndef CLI_COMPARE_RIVAL_H
#define CLI_COMPARE_RIVAL_H
#include "formats/late/late_library.h"
#include "formats/bytes.h"

typedef struct cli_rival_coded {
    size_t setting;       /* in: the number of one of the rival's settings */
    double quality;       /* in */
    formats_buffer file;  /* its owner is the caller, see cli_rival_coded_free */
    size_t payload_bytes; /* 0 when the rival has no payload accounting */
    taper_image decoded;  /* 8 bits, channels as the image that went in */
    char why[200];        /* of TAPER_ERR_UNSUPPORTED; empty: the library does not tell */
} cli_rival_coded;

typedef struct cli_rival {
    const char *name;                    /* "jpeg": for --rivals, JSON and CSV */
    const char *title;                   /* "JPEG": for people */
    const char *codec;                   /* "libjpeg": the library, in messages */
    const char *package;                 /* "libjxl-dev": what to install if it is not built in */
    const formats_late_library *library; /* NULL: linked */
    const char *media_type; /* "image/jpeg", of files that browsers show; NULL: they do not */
    const char *payload_is; /* "bytes of the scans"; NULL: accounting `file` only */
    /* The library's name and version into text, "libjpeg-turbo 2.1.5". */
    void (*version)(char *text, size_t room);
    /* Settings that are tried at every quality; the curve has the best at each rate. */
    const char *const *settings;
    size_t n_settings; /* grey images try the first alone */
    /* Qualities from few bytes to many, in the library's own scale. */
    const double *ladder;
    size_t n_ladder;
    /* For cli_rival_code. encode: code at out->setting and out->quality, and write the file and
     * the size of its payload to *out; NULL: not built in. decode: decode the file into
     * coded->decoded, whose pixels are allocated. TAPER_ERR_UNSUPPORTED: the library failed; any
     * other failure: no memory. Safe from several threads at once; one call uses one thread. */
    taper_status (*encode)(const taper_image *image, cli_rival_coded *out);
    taper_status (*decode)(cli_rival_coded *coded);
} cli_rival;

/* The members that a rival's source file defines as static objects of these names. */
#define CLI_RIVAL_CODES                                                       \
    .version = version, .settings = k_settings,                               \
    .n_settings = sizeof k_settings / sizeof *k_settings, .ladder = k_ladder, \
    .n_ladder = sizeof k_ladder / sizeof *k_ladder, .encode = encode, .decode = decode

extern const cli_rival cli_rival_jpeg, cli_rival_jpeg2000, cli_rival_webp, cli_rival_avif,
    cli_rival_jxl;

/* All rivals, NULL-terminated, JPEG first. */
extern const cli_rival *const cli_rivals[];

/* The rival of that name, or NULL. */
const cli_rival *cli_rival_find(const char *name);

/* Call before other functions of a rival, from one thread. TAPER_ERR_UNSUPPORTED: it was not built
 * in, or its library is missing; the text says which, and the remedy. */
taper_status cli_rival_load(const cli_rival *rival, taper_error *error);

/* Code the image (8 bits, 1 or 3 channels) and decode the result. On failure *out is zeroed. Safe
 * from several threads at once. */
taper_status cli_rival_code(const cli_rival *rival, const taper_image *image, size_t setting,
                            double quality, cli_rival_coded *out, taper_error *error);

/* Decode coded->file, of an image like this, into coded->decoded: its pixels are the caller's to
 * free, also after a failure. */
taper_status cli_rival_decode(const cli_rival *rival, const taper_image *like,
                              cli_rival_coded *coded, taper_error *error);

void cli_rival_coded_free(cli_rival_coded *coded); /* leaves it zeroed */

/* Convert an image for rivals: 8 bits (16-bit samples are rounded), 1 or 3 channels, without alpha.
 * out->pixels is the caller's to free. */
taper_status cli_rival_prepare(const taper_image *image, taper_image *out, taper_error *error);

/* For the rivals: allocate an 8-bit image. */
taper_status cli_rival_new_image(uint32_t width, uint32_t height, int channels, taper_image *out,
                                 taper_error *error);

/* Libraries of rivals crash if memory is short. 1 if memory suffices to load and use all of them.
 */
int cli_rivals_have_room(void);

#endif
