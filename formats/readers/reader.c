/* reader.c -- see reader.h. */
#include "formats/readers/reader.h"
#include "formats/image.h"

taper_status formats_reader_load(const formats_reader *reader, taper_error *error) {
    if (!reader->libraries)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "%s is not read, because taper was built without %s: install it and "
                            "build taper anew",
                            reader->name, reader->package);
    for (size_t i = 0; reader->libraries[i]; i++) {
        taper_error why = {.status = TAPER_OK};
        if (formats_late_library_load(reader->libraries[i], &why) != TAPER_OK)
            return formats_fail(error, why.status, "%s is not read: %.200s", reader->name,
                                why.text);
    }
    return TAPER_OK;
}

taper_status formats_picture_open(formats_picture *out, const formats_reader *reader,
                                  const void *bytes, size_t size, const taper_limits *limits,
                                  taper_error *error) {
    *out = (formats_picture){.reader = reader,
                             .bytes = bytes,
                             .size = size,
                             .limits = formats_limits_or_default(limits),
                             .frames = 1};
    const taper_status status = reader->open(out, error);
    if (status != TAPER_OK) formats_picture_close(out);
    return status;
}

taper_status formats_picture_read(formats_picture *picture, uint32_t frame, taper_image *out,
                                  formats_metadata *metadata, taper_error *error) {
    formats_metadata unwanted = {0};
    *out = (taper_image){0};
    if (frame >= picture->frames)
        return formats_fail(error, TAPER_ERR_ARG, "there is no frame %u", frame);
    if (metadata) *metadata = (formats_metadata){0};
    formats_metadata *to = metadata ? metadata : &unwanted;
    const taper_status status = picture->reader->read(picture, frame, out, to, error);
    if (status != TAPER_OK || !metadata) formats_metadata_free(to);
    if (status == TAPER_OK)
        formats_image_drop_opaque_alpha(out);
    else
        formats_image_free(out);
    return status;
}

void formats_picture_close(formats_picture *picture) {
    if (picture->reader) picture->reader->close(picture);
    *picture = (formats_picture){0};
}
