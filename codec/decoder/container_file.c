/* container_file.c -- containers in files and in memory, and one image of a file in one call: see
 * taper.h; files that are read in parts: see container_file.h. Needs POSIX, by formats/file.h. */
#include "codec/decoder/container_file.h"
#include "codec/decoder/decoder.h"
#include "formats/file.h"
#include "formats/packed.h"
#include <stdlib.h>

static void close_file(void *file) { formats_file_close(file); }

taper_status taper_container_open_file(taper_container **out, const char *path,
                                       const taper_open_options *options, taper_error *error) {
    formats_file *file;
    TAPER_TRY(formats_need(out, "the container's place", error));
    *out = NULL;
    TAPER_TRY(formats_need(path, "the path", error));
    TAPER_TRY(formats_file_open(&file, path, error));
    const taper_source source = formats_file_source(file);
    const taper_status status = taper_container_open(out, &source, options, error);
    if (status == TAPER_OK)
        (*out)->close_source = close_file;
    else
        formats_file_close(file);
    return status;
}

taper_status taper_container_open_memory(taper_container **out, const void *bytes, size_t size,
                                         const taper_open_options *options, taper_error *error) {
    TAPER_TRY(formats_need(out, "the container's place", error));
    *out = NULL;
    TAPER_TRY(formats_need_array(bytes, size, 1, "the bytes", error));
    formats_memory *memory = malloc(sizeof *memory);
    if (!memory) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a container");
    *memory = (formats_memory){bytes, size};
    const taper_source source = formats_memory_source(memory);
    const taper_status status = taper_container_open(out, &source, options, error);
    if (status == TAPER_OK)
        (*out)->close_source = free;
    else
        free(memory);
    return status;
}

static taper_status decode(const taper_container *container, uint64_t i, taper_image *out,
                           taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    taper_decoder *decoder;
    TAPER_TRY(taper_container_get_image(container, i, &info, error));
    TAPER_TRY(taper_decoder_new(&decoder, container, NULL, error));
    out->pixels = malloc((size_t)info.bytes);
    taper_status status = out->pixels ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK)
        status = taper_decoder_render(decoder, i, out, NULL, error);
    else
        formats_fail(error, status, "no memory for %u x %u pixels", info.width, info.height);
    taper_decoder_free(decoder);
    if (status != TAPER_OK && status != TAPER_ERR_CORRUPT) taper_image_free(out);
    return status;
}

taper_status taper_decode_file(const char *path, uint64_t i, taper_image *out, taper_error *error) {
    taper_container *container;
    TAPER_TRY(formats_need(out, "the image's place", error));
    *out = (taper_image){.pixels = NULL};
    TAPER_TRY(taper_container_open_file(&container, path, NULL, error));
    const taper_status status = decode(container, i, out, error);
    taper_container_close(container);
    return status;
}

void taper_image_free(taper_image *image) {
    if (!image) return;
    free(image->pixels);
    *image = (taper_image){.pixels = NULL};
}

/* --- front matter in parts --------------------------------------------------------------- */

int codec_in_parts_begins(const void *head) {
    return (formats_get_u32le((const uint8_t *)head + 12) & FORMATS_FEATURE_PAGED) != 0;
}

int codec_in_parts_get(const taper_container *c, codec_in_parts *out) {
    const formats_root *r = &c->root;
    *out = (codec_in_parts){.names_ascend = r->find == FORMATS_FIND_ASCENDING,
                            .has_further_names = r->has_further_names,
                            .metadata_bytes = r->metadata_size};
    return r->leaves > 0;
}

taper_status codec_in_parts_read_metadata(taper_decoder *d, const taper_source *file,
                                          taper_error *error) {
    formats_front *f = &d->own.front;
    const formats_root *r = &d->own.root;
    const uint64_t size = r->metadata_size;
    uint8_t *bytes;
    if (!size || f->metadata) return TAPER_OK;
    if (file->size < r->metadata_at || file->size - r->metadata_at < size)
        return formats_fail(error, TAPER_ERR_TRUNCATED, "the file ends within the metadata");
    TAPER_TRY(formats_front_take(f, size, 1, &bytes, error));
    taper_status status = codec_source_read(file, r->metadata_at, bytes, (size_t)size, error);
    if (status == TAPER_OK && formats_crc32c(0, bytes, (size_t)size) != r->metadata_crc)
        status =
            formats_fail(error, TAPER_ERR_CORRUPT,
                         "the metadata of images are damaged (checksum); fetch the file again");
    if (status == TAPER_OK)
        f->metadata = bytes, f->metadata_size = (size_t)size;
    else
        formats_unpack_free(f, bytes, size);
    return status;
}
