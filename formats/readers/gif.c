/* gif.c -- GIF by giflib, row by row.
 *
 * The frames of an animation are composed as viewers do: on a canvas that is transparent at first,
 * each frame over what the disposal of those before it has left. */
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/readers/reader.h"
#include "formats/readers/samples.h"
#include <stdlib.h>
#include <string.h>

#ifdef LATE_LIBRARY
#include <gif_lib.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(DGifOpen) ONE(DGifCloseFile) ONE(DGifGetRecordType) \
    ONE(DGifGetImageHeader) ONE(DGifGetLine) ONE(DGifGetExtension) ONE(DGifGetExtensionNext) \
    ONE(DGifGetCode) ONE(DGifGetCodeNext) ONE(DGifExtensionToGCB)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);
static const formats_late_library *const libraries[] = {&lib_library, NULL};

/* Bytes a pixel: the canvas, the canvas before a frame that is taken back, and the image. */
enum { WORKING_BYTES = 12, CHANNELS = 4 };

typedef struct gif_state {
    formats_cursor input;
    GifFileType *file;
    GraphicsControlBlock control; /* of the next frame */
    uint32_t width, height;
    uint8_t *canvas; /* [height][width][4] RGBA; NULL before the first frame */
    uint8_t *before; /* the canvas before the last frame, if that is taken back; else NULL */
    uint8_t *row;    /* [65535] indices */
    GifImageDesc last;
    int last_disposal;
    uint32_t next; /* the frame that is decoded next */
} gif_state;

static taper_status fail_damaged(taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the GIF is damaged or ends early; fetch it anew");
}

static taper_status fail_memory(taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode a GIF");
}

static int read_input(GifFileType *file, GifByteType *to, int n) {
    gif_state *s = file->UserData;
    const size_t left = formats_cursor_left(&s->input);
    const size_t take = n > 0 && (size_t)n < left ? (size_t)n : left;
    const uint8_t *from = formats_read_bytes(&s->input, take);
    if (take && from) memcpy(to, from, take);
    return (int)take;
}

/* --- records --- */

/* An extension; graphics control is noted for the frame that follows. */
static int take_extension(gif_state *s) {
    int code;
    GifByteType *block;
    if (lib.DGifGetExtension(s->file, &code, &block) == GIF_ERROR) return 0;
    while (block) {
        if (code == GRAPHICS_EXT_FUNC_CODE)
            lib.DGifExtensionToGCB(block[0], block + 1, &s->control);
        if (lib.DGifGetExtensionNext(s->file, &block) == GIF_ERROR) return 0;
    }
    return 1;
}

/* Go to the next frame and read its header. 1: there is one; 0: the end, or damage. */
static int find_frame(gif_state *s) {
    GifRecordType type;
    s->control = (GraphicsControlBlock){.TransparentColor = NO_TRANSPARENT_COLOR};
    while (lib.DGifGetRecordType(s->file, &type) != GIF_ERROR && type != TERMINATE_RECORD_TYPE) {
        if (type == IMAGE_DESC_RECORD_TYPE) return lib.DGifGetImageHeader(s->file) != GIF_ERROR;
        if (type == EXTENSION_RECORD_TYPE && !take_extension(s)) return 0;
    }
    return 0;
}

/* Skip the data of a frame without decoding it. */
static int skip_frame(gif_state *s) {
    int size;
    GifByteType *block;
    if (lib.DGifGetCode(s->file, &size, &block) == GIF_ERROR) return 0;
    while (block)
        if (lib.DGifGetCodeNext(s->file, &block) == GIF_ERROR) return 0;
    return 1;
}

static taper_status open_file(const formats_picture *p, taper_error *error) {
    gif_state *s = p->state;
    int code;
    s->input = formats_cursor_over(p->bytes, p->size);
    s->file = lib.DGifOpen(s, read_input, &code);
    s->next = 0;
    return s->file ? TAPER_OK : fail_damaged(error);
}

static void close_file(gif_state *s) {
    int code;
    if (s->file) lib.DGifCloseFile(s->file, &code);
    free(s->canvas);
    free(s->before);
    s->file = NULL, s->canvas = s->before = NULL;
}

/* Begin again: before the first frame. */
static taper_status rewind_file(const formats_picture *p, taper_error *error) {
    close_file(p->state);
    return open_file(p, error);
}

/* Frames are counted as far as the file is whole. */
static taper_status gif_open(formats_picture *p, taper_error *error) {
    gif_state *s = p->state = calloc(1, sizeof *s);
    if (!s) return fail_memory(error);
    TAPER_TRY(open_file(p, error));
    p->frames = 0;
    while (p->frames < UINT32_MAX && find_frame(s)) {
        if (!p->frames) {
            s->width = (uint32_t)formats_larger((size_t)s->file->SWidth, 0);
            s->height = (uint32_t)formats_larger((size_t)s->file->SHeight, 0);
            if (!s->width || !s->height) { /* some programs leave the canvas out */
                s->width = (uint32_t)s->file->Image.Width;
                s->height = (uint32_t)s->file->Image.Height;
            }
        }
        p->frames++;
        if (!skip_frame(s)) break;
    }
    if (!p->frames) return fail_damaged(error);
    TAPER_TRY(formats_image_check(s->width, s->height, CHANNELS, 8, &p->limits, NULL, error));
    TAPER_TRY(formats_samples_check_room(s->width, s->height, WORKING_BYTES, &p->limits, error));
    return rewind_file(p, error);
}

/* --- frames --- */

/* The part of a frame that lies on the canvas: x from *from to before *to. */
static void clip(int at, int n, uint32_t side, uint32_t *from, uint32_t *to) {
    const int64_t end = (int64_t)at + n;
    *from = at < 0 ? 0 : (uint32_t)at;
    *to = end < 0 ? 0 : end < (int64_t)side ? (uint32_t)end : side;
    if (*from > *to) *from = *to;
}

/* Do with the last frame what its disposal says. */
static void dispose(gif_state *s) {
    const size_t bytes = (size_t)s->width * s->height * CHANNELS;
    uint32_t left, right, top, bottom;
    if (s->last_disposal == DISPOSE_PREVIOUS && s->before) memcpy(s->canvas, s->before, bytes);
    if (s->last_disposal != DISPOSE_BACKGROUND) return;
    clip(s->last.Left, s->last.Width, s->width, &left, &right);
    clip(s->last.Top, s->last.Height, s->height, &top, &bottom);
    for (uint32_t y = top; y < bottom; y++)
        memset(s->canvas + ((size_t)y * s->width + left) * CHANNELS, 0,
               (size_t)(right - left) * CHANNELS);
}

/* Draw a row of indices onto the canvas. */
static void draw_row(gif_state *s, const ColorMapObject *map, int64_t y) {
    uint32_t left, right;
    if (y < 0 || y >= (int64_t)s->height) return;
    clip(s->file->Image.Left, s->file->Image.Width, s->width, &left, &right);
    uint8_t *to = s->canvas + ((size_t)y * s->width + left) * CHANNELS;
    for (uint32_t x = left; x < right; x++, to += CHANNELS) {
        const int index = s->row[x - (uint32_t)s->file->Image.Left];
        if (index == s->control.TransparentColor || index >= map->ColorCount) continue;
        const GifColorType *c = &map->Colors[index];
        to[0] = c->Red, to[1] = c->Green, to[2] = c->Blue, to[3] = 255;
    }
}

static taper_status draw_frame(gif_state *s, taper_error *error) {
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2}; /* rows of interlaced files */
    const GifImageDesc *image = &s->file->Image;
    const ColorMapObject *map = image->ColorMap ? image->ColorMap : s->file->SColorMap;
    if (!map || image->Width < 1 || image->Height < 1) return fail_damaged(error);
    for (int pass = 0; pass < (image->Interlace ? 4 : 1); pass++)
        for (int y = image->Interlace ? first[pass] : 0; y < image->Height;
             y += image->Interlace ? step[pass] : 1) {
            if (lib.DGifGetLine(s->file, s->row, image->Width) == GIF_ERROR)
                return fail_damaged(error);
            draw_row(s, map, (int64_t)image->Top + y);
        }
    return TAPER_OK;
}

static taper_status next_frame(const formats_picture *p, taper_error *error) {
    gif_state *s = p->state;
    const size_t bytes = (size_t)s->width * s->height * CHANNELS;
    if (!find_frame(s)) return fail_damaged(error);
    if (!s->row) s->row = malloc(UINT16_MAX);
    if (!s->canvas) s->canvas = calloc(1, bytes);
    if (!s->row || !s->canvas) return fail_memory(error);
    if (s->next) dispose(s);
    if (s->control.DisposalMode == DISPOSE_PREVIOUS) {
        if (!s->before) s->before = malloc(bytes);
        if (!s->before) return fail_memory(error);
        memcpy(s->before, s->canvas, bytes);
    }
    TAPER_TRY(draw_frame(s, error));
    s->last = s->file->Image;
    s->last_disposal = s->control.DisposalMode;
    s->next++;
    return TAPER_OK;
}

static taper_status gif_read(formats_picture *p, uint32_t frame, taper_image *out,
                             formats_metadata *metadata, taper_error *error) {
    gif_state *s = p->state;
    (void)metadata;
    if (frame < s->next || !s->file) TAPER_TRY(rewind_file(p, error));
    while (s->next <= frame) {
        const taper_status status = next_frame(p, error);
        if (status == TAPER_OK) continue;
        close_file(s); /* the next call begins again */
        return status;
    }
    TAPER_TRY(formats_image_make(out, s->width, s->height, CHANNELS, 8, &p->limits, error));
    memcpy(out->pixels, s->canvas, formats_image_bytes(out));
    return TAPER_OK;
}

static void gif_close(formats_picture *p) {
    gif_state *s = p->state;
    if (!s) return;
    close_file(s);
    free(s->row);
    free(s);
}
#endif

const formats_reader formats_gif_reader = {
    .name = "GIF",
    .package = "libgif-dev",
#ifdef LATE_LIBRARY
    .is_sequential = 1,
    .libraries = libraries,
    .open = gif_open,
    .read = gif_read,
    .close = gif_close,
#endif
};
