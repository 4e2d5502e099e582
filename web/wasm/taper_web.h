/* taper_web.h -- the functions that JavaScript calls (web/js/engine.js), on codec/taper.h alone.
 *
 * Directory web/wasm/:
 *   taper_web        a set that is supplied by ranges: its model, plans, what is known of it
 *   web_pixels       pictures as RGBA of 8 bits
 *
 * Pointers are addresses in the module's memory, of which JavaScript takes pieces by
 * taper_web_alloc. Offsets, sizes and numbers of images are doubles, exact up to 2^53. A function
 * that can fail returns a taper_status; then taper_web_error has the sentence. Results are read
 * from the set: numbers at taper_web_numbers, a text at taper_web_text. They are valid until the
 * next call with the set. One thread uses a module.
 *
 * A set has one model at a time. More stages of it begin anew: taper_web_model drops all bytes that
 * were supplied. */
#ifndef WEB_TAPER_WEB_H
#define WEB_TAPER_WEB_H
#include "codec/taper.h"

#ifdef __wasm__
#define WEB_EXPORT(name) __attribute__((export_name(#name)))
#else
#define WEB_EXPORT(name)
#endif

enum { WEB_NUMBERS = 16 };

typedef struct taper_web {
    taper_model *model; /* owned; NULL: that of the container */
    taper_decoder *decoder;
    taper_error error;
    double number[WEB_NUMBERS];
    const char *text;
    char id[17];
    taper_range *range; /* [capacity], owned */
    size_t capacity;
    double *pair;    /* [2 * capacity], owned: offset and size of each range */
    uint8_t *pixels; /* [pixels_size], owned: the last picture */
    size_t pixels_size;
} taper_web;

/* Memory for what JavaScript passes: NULL if there is none. NULL may be freed. */
void *taper_web_alloc(size_t size);
void taper_web_release(void *memory);
/* Unpack a zstd frame of `size` bytes to `room` bytes: how many there are; more than `room`: it is
 * damaged, or larger. For sections of a container that the decoder does not need. */
size_t taper_web_unpack(void *to, size_t room, const void *frame, size_t size);
/* The version of the library. */
const char *taper_web_version(void);

/* A set without a decoder: taper_web_model makes one. NULL: no memory. */
taper_web *taper_web_open(void);
/* NULL is allowed. */
void taper_web_close(taper_web *set);

/* Begin to decode with this model, of which `bytes` has the first stages or all of them; size 0:
 * with the model that the container carries. Numbers: stages, stages that are loaded, passes of the
 * coding order, passes that these stages decode. Text: the id, 16 hexadecimal digits; with size 0
 * there are neither. */
int taper_web_model(taper_web *set, const void *bytes, size_t size);
int taper_web_supply(taper_web *set, double offset, const void *bytes, size_t size);

/* The ranges that image i needs of the file, cut to `cut` bytes; cut below 0: of the complete file.
 * Numbers: their count, and 1 if the front matter is known, else 0. They are at taper_web_ranges:
 * offset, size, offset, size and so on. TAPER_ERR_CORRUPT: with those of damaged bytes. */
int taper_web_plan(taper_web *set, double i, double cut);
/* The same of a name. Numbers: also the number of the image, -1: not known yet. */
int taper_web_plan_name(taper_web *set, const char *name, double cut);
const double *taper_web_ranges(const taper_web *set);

/* Numbers: images, pixels of all, layout, groups, layers, passes, bytes of front matter, bytes of
 * the file, 1 for names, classes, bytes of its own model, 1 if it was truncated, further names.
 * Text: the id of the model. TAPER_ERR_TRUNCATED: the front matter is not complete. */
int taper_web_info(taper_web *set);
/* Of image i. Numbers: width, height, channels, bits of a sample, group, label or -1, the number of
 * the image that it equals, 1 if stored by its colours, 1 if exact, bytes of data that the file has
 * for its group. Text: its name, NULL: none. */
int taper_web_image(taper_web *set, double i);
/* Of a layer, for image i. Numbers: the bytes of the file up to its end, passes, and the stage of
 * the model that it has instead of passes, from 1; 0: none. */
int taper_web_layer(taper_web *set, double i, uint32_t layer);
/* Text: the name of class k; NULL: there is none. */
int taper_web_class(taper_web *set, uint32_t k);

/* A rectangle in pixels of the full size; width 0: all of the image. */
typedef struct web_view {
    uint32_t scale, x, y, width, height;
} web_view;

/* Draw image i at 1 / scale of its size, from the bytes supplied. The pixels are at
 * taper_web_pixels: RGBA, 8 bits a sample, alpha not premultiplied, rows without padding. Numbers:
 * width, height, passes, passes of the complete file, bytes used, 1 if no byte changes it any
 * more, rows that equal the original. TAPER_ERR_CORRUPT: data are damaged; the picture has what
 * comes before them, with 0 passes if nothing does. */
int taper_web_render(taper_web *set, double i, const web_view *view);
const void *taper_web_pixels(const taper_web *set);

/* web_pixels.c: the bytes that the pixels of `image` and their RGBA take, at most `most`; 0: more.
 * The image is read into the end of that memory (web_pixels_place), and becomes RGBA there. */
size_t web_pixels_room(const taper_image *image, size_t most);
void *web_pixels_place(const taper_image *image, uint8_t *memory, size_t room);
void web_pixels_rgba(const taper_image *image, uint8_t *memory);

int taper_web_status(const taper_web *set);
/* A taper_fact; the value that would be accepted is at taper_web_needed, in digits. */
int taper_web_fact(const taper_web *set);
const char *taper_web_needed(taper_web *set);
const char *taper_web_error(const taper_web *set);
const double *taper_web_numbers(const taper_web *set);
const char *taper_web_text(const taper_web *set);
#endif
