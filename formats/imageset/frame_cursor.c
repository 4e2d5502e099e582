/* frame_cursor.c -- see frame_cursor.h. */
#include "formats/imageset/frame_cursor.h"
#include "formats/image.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct kept_frame {
    uint32_t frame;
    taper_image image; /* pixels NULL: no frame */
    formats_metadata metadata;
} kept_frame;

struct formats_frame_cursor {
    pthread_mutex_t lock;
    int is_open;
    size_t file;
    formats_file_bytes bytes;
    formats_picture picture;
    uint32_t next; /* the frame after the last that was decoded */
    kept_frame kept[FORMATS_FRAMES_KEPT];
    unsigned oldest; /* in kept */
    size_t kept_bytes;
};

formats_frame_cursor *formats_frame_cursor_make(void) {
    formats_frame_cursor *c = calloc(1, sizeof *c);
    if (c) pthread_mutex_init(&c->lock, NULL);
    return c;
}

static void drop(formats_frame_cursor *c, kept_frame *k) {
    if (k->image.pixels) c->kept_bytes -= formats_image_bytes(&k->image);
    formats_image_free(&k->image);
    formats_metadata_free(&k->metadata);
}

static void close_file(formats_frame_cursor *c) {
    for (unsigned i = 0; i < FORMATS_FRAMES_KEPT; i++) drop(c, &c->kept[i]);
    if (c->is_open) formats_picture_close(&c->picture);
    free(c->bytes.owned);
    c->bytes = (formats_file_bytes){0};
    c->is_open = 0, c->next = 0;
}

void formats_frame_cursor_free(formats_frame_cursor *c) {
    if (!c) return;
    close_file(c);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static taper_status open_file(formats_frame_cursor *c, const formats_image_list *list, size_t file,
                              taper_error *error) {
    const image_file *f = &list->files[file];
    if (c->is_open && c->file == file) return TAPER_OK;
    close_file(c);
    TAPER_TRY(formats_file_bytes_load(f->pack, 0, f->pack ? f->pack->source.size : 0, f->path,
                                      &list->limits, &c->bytes, error));
    const taper_status status = formats_picture_open(&c->picture, f->reader, c->bytes.bytes,
                                                     c->bytes.size, &list->limits, error);
    if (status != TAPER_OK) {
        close_file(c);
        return status;
    }
    c->is_open = 1, c->file = file;
    return TAPER_OK;
}

/* Keep a frame that another thread will want; the oldest give way. */
static void keep(formats_frame_cursor *c, kept_frame frame) {
    const size_t bytes = formats_image_bytes(&frame.image);
    const unsigned at = c->oldest;
    drop(c, &c->kept[at]);
    for (unsigned n = 1; n < FORMATS_FRAMES_KEPT; n++)
        if (c->kept_bytes + bytes > FORMATS_FRAME_BYTES_KEPT)
            drop(c, &c->kept[(at + n) % FORMATS_FRAMES_KEPT]);
    c->kept[at] = frame;
    c->kept_bytes += bytes;
    c->oldest = (at + 1) % FORMATS_FRAMES_KEPT;
}

static int take_kept(formats_frame_cursor *c, uint32_t frame, taper_image *out,
                     formats_metadata *metadata) {
    for (unsigned i = 0; i < FORMATS_FRAMES_KEPT; i++) {
        kept_frame *k = &c->kept[i];
        if (!k->image.pixels || k->frame != frame) continue;
        c->kept_bytes -= formats_image_bytes(&k->image);
        *out = k->image;
        if (metadata)
            *metadata = k->metadata;
        else
            formats_metadata_free(&k->metadata);
        *k = (kept_frame){0};
        return 1;
    }
    return 0;
}

static taper_status read_frame(formats_frame_cursor *c, uint32_t frame, taper_image *out,
                               formats_metadata *metadata, taper_error *error) {
    if (take_kept(c, frame, out, metadata)) return TAPER_OK;
    for (; c->picture.reader->is_sequential && c->next < frame; c->next++) {
        kept_frame passed = {.frame = c->next};
        TAPER_TRY(
            formats_picture_read(&c->picture, c->next, &passed.image, &passed.metadata, error));
        keep(c, passed);
    }
    c->next = frame + 1;
    return formats_picture_read(&c->picture, frame, out, metadata, error);
}

taper_status formats_frame_cursor_read(formats_frame_cursor *c, const formats_image_list *list,
                                       size_t file, uint32_t frame, taper_image *out,
                                       formats_metadata *metadata, taper_error *error) {
    pthread_mutex_lock(&c->lock);
    taper_status status = open_file(c, list, file, error);
    if (status == TAPER_OK) status = read_frame(c, frame, out, metadata, error);
    pthread_mutex_unlock(&c->lock);
    return status;
}
