/* rival.h -- one small struct per codec that taper is compared with.
 *
 * A rival codes one image at a time at one setting and one quality, decodes what it wrote with the
 * same library, and says how many bytes it took. Of two accountings, `file` counts every byte of
 * the smallest legal file, without optional markers, boxes or metadata; `payload` the entropy-coded
 * data alone (payload_is), as if all headers were free, which flatters the rival. Each rival is one
 * file in this folder, compiled where the build found its library, which is loaded when the rival
 * is asked for; the table holds all of them, so that an absent one can be named. */
#ifndef CLI_COMPARE_RIVAL_H
#define CLI_COMPARE_RIVAL_H
#include "cli/compare/late_library.h"

typedef struct cli_rival_coded {
    uint8_t *bytes; /* the file; its owner is the caller, see cli_rival_coded_free */
    size_t file_bytes;
    size_t payload_bytes; /* 0 when the rival has no payload accounting */
    taper_image decoded;  /* 8 bits, channels as the image that went in */
} cli_rival_coded;

typedef struct cli_rival {
    const char *name;                /* "jpeg": for --rivals, JSON and CSV */
    const char *title;               /* "JPEG": for people */
    const char *absent;              /* NULL: built in; else why not and the remedy */
    const cli_late_library *library; /* NULL: linked */
    const char *payload_is;          /* "bytes of the scans"; NULL: accounting `file` only */
    /* The library's name and version into text, "libjpeg-turbo 2.1.5". */
    void (*version)(char *text, size_t room);
    /* Settings that are tried at every quality; the best at each rate makes the curve. */
    const char *const *settings;
    size_t n_settings; /* grey images try the first alone */
    /* Qualities from few bytes to many, in the library's own scale. */
    const double *ladder;
    size_t n_ladder;
    /* For cli_rival_code: the file and its payload's size into *out, which is zeroed; the file back
     * into the pixels of coded->decoded, which has room for them. Safe from several threads at
     * once; one call uses one thread. */
    taper_status (*encode)(const taper_image *image, size_t setting, double quality,
                           cli_rival_coded *out, taper_error *error);
    taper_status (*decode)(cli_rival_coded *coded, taper_error *error);
} cli_rival;

extern const cli_rival cli_rival_jpeg, cli_rival_jpeg2000, cli_rival_webp, cli_rival_avif,
    cli_rival_jxl;

/* All rivals, NULL-ended, JPEG first. */
extern const cli_rival *const cli_rivals[];

/* The rival of that name, or NULL. */
const cli_rival *cli_rival_find(const char *name);

/* To be called before a rival's functions, from one thread. TAPER_ERR_UNSUPPORTED: it was not built
 * in, or its library is not here; error says which, and the remedy. */
taper_status cli_rival_load(const cli_rival *rival, taper_error *error);

/* Code the image (8 bits, 1 or 3 channels), and decode what was written. On failure nothing is held
 * and *out is zeroed. Safe from several threads at once. */
taper_status cli_rival_code(const cli_rival *rival, const taper_image *image, size_t setting,
                            double quality, cli_rival_coded *out, taper_error *error);

void cli_rival_coded_free(cli_rival_coded *coded); /* leaves it zeroed */

/* The image as rivals take it: 8 bits (16-bit samples rounded), 1 or 3 channels, alpha left out.
 * out->pixels is the caller's to free. */
taper_status cli_rival_prepare(const taper_image *image, taper_image *out, taper_error *error);

/* For the rivals: an 8-bit image with room for its pixels. */
taper_status cli_rival_new_image(uint32_t width, uint32_t height, int channels, taper_image *out,
                                 taper_error *error);

/* Libraries of rivals crash where memory is short. True when there is room for all of them, which
 * are not loaded yet. */
int cli_rivals_have_room(void);

/* For the rivals: put a copy of bytes into out, in the place of what is there. */
taper_status cli_rival_keep_bytes(cli_rival_coded *out, const void *bytes, size_t n,
                                  taper_error *error);
#endif
