/* apng.c -- animated PNG, without a library that knows of animation.
 *
 * The chunks of a frame are put together as a PNG of its own, which libpng decodes. The frames are
 * composed on a canvas that is transparent at first, as the specification of APNG says. */
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/images/png.h"
#include "formats/metadata/metadata.h"
#include "formats/metadata/pieces.h"
#include "formats/metadata/public_metadata.h"
#include "formats/metadata/read_payloads.h"
#include "formats/readers/reader.h"
#include "formats/readers/samples.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { HEADER = 13, CONTROL = 26, AROUND_CHUNK = 12, NUMBER = 4, CHANNELS = 4 };
enum { SIGNATURE_BYTES = 8, WORKING_IMAGES = 4 }; /* canvas, what is taken back, frame, result */
typedef enum disposal { LEAVE, CLEAR, TAKE_BACK } disposal;

typedef struct frame {
    uint32_t width, height, x, y;
    uint8_t disposal, is_over; /* is_over: blended, else it replaces what is there */
    size_t at;                 /* offset of the chunk after its control chunk */
} frame;

typedef struct apng_state {
    uint8_t header[HEADER]; /* IHDR */
    formats_buffer palette; /* chunks PLTE and tRNS */
    frame *frames;
    size_t room;
    uint32_t width, height;
    unsigned depth; /* of the result: 8 or 16 */
    formats_metadata metadata;
    formats_orientation upright;
    taper_image canvas; /* RGBA; pixels NULL before the first frame */
    uint8_t *before;    /* rows of the last frame's rectangle, if it is taken back; else NULL */
    uint32_t next;      /* the frame that is decoded next */
} apng_state;

static taper_status fail_memory(taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode an animated PNG");
}

static taper_status fail_damaged(taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT, "the animated PNG is damaged; fetch it anew");
}

/* --- opening --- */

/* A control chunk: number, size, place, delay, disposal, blending. 0: it is not legal. */
static int read_control(const apng_state *s, const formats_piece *c, frame *f) {
    if (c->size != CONTROL || !formats_is_sum_right(c)) return 0;
    const uint8_t *p = c->at;
    *f = (frame){.width = formats_get_u32be(p + 4),
                 .height = formats_get_u32be(p + 8),
                 .x = formats_get_u32be(p + 12),
                 .y = formats_get_u32be(p + 16),
                 .disposal = p[24],
                 .is_over = p[25]};
    return f->width && f->height && f->width <= s->width && f->height <= s->height &&
           f->x <= s->width - f->width && f->y <= s->height - f->height &&
           f->disposal <= TAKE_BACK && f->is_over <= 1;
}

static int is_pixels(const formats_piece *c) {
    return formats_is_type(c, "IDAT") || formats_is_type(c, "fdAT");
}

/* Frames are counted as far as the file is whole. A picture before the first control chunk is no
 * frame: it is for programs that do not know of animation. */
static taper_status list_frames(formats_picture *p, formats_walk w, taper_error *error) {
    apng_state *s = p->state;
    formats_piece c;
    frame f;
    int is_animated = 0, is_open = 0;
    p->frames = 0;
    while (formats_next_chunk(&w, &c) && !formats_is_type(&c, "IEND")) {
        is_animated |= formats_is_type(&c, "acTL");
        if (formats_is_type(&c, "PLTE") || formats_is_type(&c, "tRNS"))
            formats_write_bytes(&s->palette, c.at - 8, c.size + AROUND_CHUNK);
        if (formats_is_type(&c, "fcTL")) {
            if (!read_control(s, &c, &f)) break;
            if (!formats_grow(&s->frames, p->frames, &s->room, sizeof f)) return fail_memory(error);
            f.at = w.at;
            s->frames[p->frames] = f;
            is_open = 1;
        }
        if (!is_pixels(&c) || !is_open) continue;
        p->frames++; /* a frame without pixels is none */
        is_open = 0;
    }
    if (s->palette.status != TAPER_OK) return fail_memory(error);
    return p->frames && is_animated ? TAPER_OK : fail_damaged(error);
}

static taper_status apng_open(formats_picture *p, taper_error *error) {
    formats_walk w = formats_walk_png(p->bytes, p->size);
    formats_piece c;
    apng_state *s = p->state = calloc(1, sizeof *s);
    if (!s) return fail_memory(error);
    s->palette = formats_buffer_make(FORMATS_MOST_BYTES);
    if (!formats_next_chunk(&w, &c) || !formats_is_type(&c, "IHDR") || c.size != HEADER)
        return fail_damaged(error);
    memcpy(s->header, c.at, HEADER);
    s->width = formats_get_u32be(c.at), s->height = formats_get_u32be(c.at + 4);
    s->depth = c.at[8] == 16 ? 16 : 8;
    TAPER_TRY(
        formats_image_check(s->width, s->height, CHANNELS, s->depth, &p->limits, NULL, error));
    TAPER_TRY(formats_samples_check_room(
        s->width, s->height, WORKING_IMAGES * CHANNELS * (s->depth / 8), &p->limits, error));
    TAPER_TRY(list_frames(p, w, error));
    TAPER_TRY(formats_png_orientation(p->bytes, p->size, &s->upright, error));
    return formats_png_metadata(p->bytes, p->size, &s->metadata, error);
}

/* --- a frame as a PNG --- */

static void write_chunk(formats_buffer *b, const char *type, const uint8_t *data, size_t n) {
    formats_write_u32be(b, (uint32_t)n);
    const size_t at = b->size;
    formats_write_bytes(b, type, 4);
    if (n) formats_write_bytes(b, data, n);
    if (b->status != TAPER_OK) return;
    formats_write_u32be(b, (uint32_t)crc32(0, b->data + at, (uInt)(n + 4)));
}

/* The chunks of a frame behind each other. 0: one is damaged. */
static int copy_pixels(const formats_picture *p, const frame *f, formats_buffer *to) {
    formats_walk w = formats_walk_png(p->bytes, p->size);
    formats_piece c;
    w.at = f->at;
    while (formats_next_chunk(&w, &c) && !formats_is_type(&c, "fcTL") &&
           !formats_is_type(&c, "IEND")) {
        if (!is_pixels(&c)) continue;
        const size_t skip = formats_is_type(&c, "fdAT") ? NUMBER : 0;
        if (!formats_is_sum_right(&c) || c.size < skip) return 0;
        write_chunk(to, "IDAT", c.at + skip, c.size - skip);
    }
    return 1;
}

static taper_status decode_frame(const formats_picture *p, const frame *f, taper_image *out,
                                 taper_error *error) {
    apng_state *s = p->state;
    formats_buffer png = formats_buffer_make(FORMATS_MOST_BYTES);
    taper_status status = TAPER_OK;
    formats_set_u32be(s->header, f->width), formats_set_u32be(s->header + 4, f->height);
    formats_write_bytes(&png, p->bytes, SIGNATURE_BYTES);
    write_chunk(&png, "IHDR", s->header, HEADER);
    if (s->palette.size) formats_write_bytes(&png, s->palette.data, s->palette.size);
    if (!copy_pixels(p, f, &png)) status = fail_damaged(error);
    write_chunk(&png, "IEND", NULL, 0);
    if (png.status != TAPER_OK) status = fail_memory(error);
    if (status == TAPER_OK)
        status = formats_png_decode(png.data, png.size, &p->limits, out, NULL, error);
    formats_buffer_free(&png);
    return status;
}

/* --- composing --- */

static unsigned sample(const taper_image *image, size_t i) {
    return image->depth == 8 ? ((const uint8_t *)image->pixels)[i]
                             : ((const uint16_t *)image->pixels)[i];
}

static void set_sample(taper_image *image, size_t i, uint64_t value) {
    if (image->depth == 8)
        ((uint8_t *)image->pixels)[i] = (uint8_t)value;
    else
        ((uint16_t *)image->pixels)[i] = (uint16_t)value;
}

/* Pixel i of a frame of any kind, as RGBA. */
static void load(const taper_image *image, size_t i, unsigned rgba[CHANNELS]) {
    const unsigned n = image->channels, colours = n < 3 ? 1 : 3;
    for (unsigned c = 0; c < 3; c++) rgba[c] = sample(image, i * n + (colours == 3 ? c : 0));
    rgba[3] = n > colours ? sample(image, i * n + colours) : (1u << image->depth) - 1;
}

/* A pixel over pixel `at` of the canvas, rounded to nearest. */
static void blend(taper_image *canvas, size_t at, const unsigned rgba[CHANNELS]) {
    const uint64_t one = (1u << canvas->depth) - 1, own = rgba[3] * one;
    const uint64_t under = (one - rgba[3]) * sample(canvas, at * CHANNELS + 3), all = own + under;
    if (!rgba[3]) return;
    for (size_t c = 0; c < 3; c++) {
        const size_t i = at * CHANNELS + c;
        set_sample(canvas, i, (rgba[c] * own + sample(canvas, i) * under + all / 2) / all);
    }
    set_sample(canvas, at * CHANNELS + 3, (all + one / 2) / one);
}

static void draw(taper_image *canvas, const frame *f, const taper_image *image) {
    unsigned rgba[CHANNELS];
    for (size_t y = 0; y < f->height; y++)
        for (size_t x = 0; x < f->width; x++) {
            const size_t at = (f->y + y) * canvas->width + f->x + x;
            load(image, y * f->width + x, rgba);
            if (f->is_over)
                blend(canvas, at, rgba);
            else
                for (size_t c = 0; c < CHANNELS; c++)
                    set_sample(canvas, at * CHANNELS + c, rgba[c]);
        }
}

/* For each row of a frame's rectangle: from the canvas to kept, back, or to zero. */
static void move_rows(taper_image *canvas, const frame *f, uint8_t *kept, int is_back) {
    const size_t pixel = CHANNELS * (canvas->depth / 8u), row = f->width * pixel;
    for (size_t y = 0; y < f->height; y++) {
        uint8_t *at = (uint8_t *)canvas->pixels + ((f->y + y) * canvas->width + f->x) * pixel;
        if (!kept)
            memset(at, 0, row);
        else if (is_back)
            memcpy(at, kept + y * row, row);
        else
            memcpy(kept + y * row, at, row);
    }
}

/* Before a frame is drawn: do with the last one what it says, and keep what this one covers if it
 * is to be taken back. */
static taper_status prepare(apng_state *s, uint32_t k, taper_error *error) {
    const frame *f = &s->frames[k], *last = k ? f - 1 : NULL;
    if (last && last->disposal == TAKE_BACK && s->before)
        move_rows(&s->canvas, last, s->before, 1);
    else if (last && last->disposal != LEAVE) /* the first frame is taken back to nothing */
        move_rows(&s->canvas, last, NULL, 0);
    free(s->before);
    s->before = NULL;
    if (f->disposal != TAKE_BACK || !k) return TAPER_OK;
    s->before = malloc((size_t)f->width * f->height * CHANNELS * (s->depth / 8));
    if (!s->before) return fail_memory(error);
    move_rows(&s->canvas, f, s->before, 0);
    return TAPER_OK;
}

static void forget(apng_state *s) {
    formats_image_free(&s->canvas);
    free(s->before);
    s->before = NULL, s->next = 0;
}

static taper_status next_frame(const formats_picture *p, taper_error *error) {
    apng_state *s = p->state;
    const frame *f = &s->frames[s->next];
    taper_image image = {0};
    if (!s->canvas.pixels) {
        TAPER_TRY(formats_image_make(&s->canvas, s->width, s->height, CHANNELS, s->depth,
                                     &p->limits, error));
        memset(s->canvas.pixels, 0, formats_image_bytes(&s->canvas));
    }
    TAPER_TRY(decode_frame(p, f, &image, error));
    const taper_status status = prepare(s, s->next, error);
    if (status == TAPER_OK) draw(&s->canvas, f, &image);
    formats_image_free(&image);
    s->next++;
    return status;
}

static taper_status apng_read(formats_picture *p, uint32_t number, taper_image *out,
                              formats_metadata *metadata, taper_error *error) {
    apng_state *s = p->state;
    const taper_metadata kept = formats_metadata_public(&s->metadata);
    if (number < s->next) forget(s);
    while (s->next <= number) {
        const taper_status status = next_frame(p, error);
        if (status == TAPER_OK) continue;
        forget(s); /* the next call begins again */
        return status;
    }
    TAPER_TRY(formats_image_make(out, s->width, s->height, CHANNELS, s->depth, &p->limits, error));
    memcpy(out->pixels, s->canvas.pixels, formats_image_bytes(out));
    const int is_grey = !(s->header[9] & 3); /* neither colours nor a palette */
    if (is_grey) formats_samples_keep_grey(out);
    if (!formats_metadata_copy(&kept, metadata)) return fail_memory(error);
    metadata->left_out = s->metadata.left_out;
    return formats_image_orient(out, s->upright.how, &p->limits, error);
}

static void apng_close(formats_picture *p) {
    apng_state *s = p->state;
    if (!s) return;
    forget(s);
    formats_buffer_free(&s->palette);
    formats_metadata_free(&s->metadata);
    free(s->frames);
    free(s);
}

static const formats_late_library *const none[] = {NULL};

const formats_reader formats_apng_reader = {
    .name = "animated PNG",
    .package = "",
    .libraries = none,
    .is_sequential = 1,
    .open = apng_open,
    .read = apng_read,
    .close = apng_close,
};
