/* jpeg2000.c -- lossy JPEG 2000 by OpenJPEG: 9-7 wavelet, colour transform, one tile, one quality
 * layer made for a PSNR; a bare codestream (.j2k), which is smaller than a .jp2 file. */
#include "cli/compare/rival.h"

#ifdef LATE_LIBRARY
#include <openjpeg.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(opj_create_compress) ONE(opj_create_decompress) ONE(opj_decode) \
    ONE(opj_destroy_codec) ONE(opj_encode) ONE(opj_end_compress) ONE(opj_end_decompress) \
    ONE(opj_image_create) ONE(opj_image_destroy) ONE(opj_read_header) \
    ONE(opj_set_default_decoder_parameters) ONE(opj_set_default_encoder_parameters) \
    ONE(opj_set_error_handler) ONE(opj_set_info_handler) ONE(opj_set_warning_handler) \
    ONE(opj_setup_decoder) ONE(opj_setup_encoder) ONE(opj_start_compress) ONE(opj_stream_create) \
    ONE(opj_stream_destroy) ONE(opj_stream_set_read_function) ONE(opj_stream_set_seek_function) \
    ONE(opj_stream_set_skip_function) ONE(opj_stream_set_user_data) \
    ONE(opj_stream_set_user_data_length) ONE(opj_stream_set_write_function) ONE(opj_version)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);

static const char *const k_settings[] = {"one layer"};
static const double k_ladder[] = {20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 43, 46};

typedef struct memory { /* the stream of OpenJPEG */
    formats_buffer *file;
    size_t at;
} memory;

static void be_quiet(const char *text, void *user) { (void)text, (void)user; }

static void silence(opj_codec_t *codec) {
    lib.opj_set_error_handler(codec, be_quiet, NULL);
    lib.opj_set_warning_handler(codec, be_quiet, NULL);
    lib.opj_set_info_handler(codec, be_quiet, NULL);
}

static OPJ_SIZE_T memory_read(void *to, OPJ_SIZE_T n, void *user) {
    memory *m = user;
    if (m->at >= m->file->size) return (OPJ_SIZE_T)-1;
    n = formats_smaller(n, m->file->size - m->at);
    memcpy(to, m->file->data + m->at, n);
    m->at += n;
    return n;
}

static OPJ_SIZE_T memory_write(void *from, OPJ_SIZE_T n, void *user) {
    memory *m = user;
    const size_t had = m->file->size;
    if (n > FORMATS_MOST_BYTES - m->at) return (OPJ_SIZE_T)-1;
    if (m->at + n > had) {
        uint8_t *added = formats_buffer_extend(m->file, m->at + n - had);
        if (!added) return (OPJ_SIZE_T)-1;
        memset(added, 0, m->at + n - had);
    }
    memcpy(m->file->data + m->at, from, n);
    m->at += n;
    return n;
}

static OPJ_OFF_T memory_skip(OPJ_OFF_T n, void *user) {
    memory *m = user;
    if (n < 0 || (uint64_t)n > FORMATS_MOST_BYTES - m->at) return -1;
    m->at += (size_t)n;
    return n;
}

static OPJ_BOOL memory_seek(OPJ_OFF_T to, void *user) {
    memory *m = user;
    if (to < 0 || (uint64_t)to > FORMATS_MOST_BYTES) return OPJ_FALSE;
    m->at = (size_t)to;
    return OPJ_TRUE;
}

static opj_stream_t *open_memory(memory *m, int reading) {
    opj_stream_t *stream = lib.opj_stream_create(65536, reading ? OPJ_TRUE : OPJ_FALSE);
    if (!stream) return NULL;
    lib.opj_stream_set_user_data(stream, m, NULL);
    lib.opj_stream_set_user_data_length(stream, m->file->size);
    lib.opj_stream_set_read_function(stream, memory_read);
    lib.opj_stream_set_write_function(stream, memory_write);
    lib.opj_stream_set_skip_function(stream, memory_skip);
    lib.opj_stream_set_seek_function(stream, memory_seek);
    return stream;
}

static opj_image_t *picture_of(const taper_image *image) {
    opj_image_cmptparm_t component[3];
    memset(component, 0, sizeof component);
    for (int c = 0; c < 3; c++) {
        component[c].dx = component[c].dy = 1;
        component[c].w = image->width;
        component[c].h = image->height;
        component[c].prec = 8;
    }
    opj_image_t *picture = lib.opj_image_create(
        image->channels, component, image->channels == 1 ? OPJ_CLRSPC_GRAY : OPJ_CLRSPC_SRGB);
    if (!picture) return NULL;
    picture->x1 = image->width;
    picture->y1 = image->height;
    for (uint32_t c = 0; c < image->channels; c++)
        for (size_t i = 0; i < (size_t)image->width * image->height; i++)
            picture->comps[c].data[i] = ((const uint8_t *)image->pixels)[i * image->channels + c];
    return picture;
}

static void set_parameters(opj_cparameters_t *p, const taper_image *image, double psnr_db) {
    lib.opj_set_default_encoder_parameters(p);
    uint32_t smaller = image->width < image->height ? image->width : image->height;
    p->numresolution = 1;
    while (p->numresolution < 6 && smaller >> p->numresolution) p->numresolution++;
    p->irreversible = 1;
    p->tcp_mct = image->channels == 3;
    p->tcp_numlayers = 1;
    p->cp_fixed_quality = 1;
    p->tcp_distoratio[0] = (float)psnr_db;
}

static int compress(const taper_image *image, cli_rival_coded *out) {
    opj_cparameters_t parameters;
    set_parameters(&parameters, image, out->quality);
    memory to = {.file = &out->file};
    opj_codec_t *codec = lib.opj_create_compress(OPJ_CODEC_J2K);
    opj_image_t *picture = picture_of(image);
    opj_stream_t *stream = open_memory(&to, 0);
    int done = 0;
    if (codec && picture && stream) {
        silence(codec);
        done = lib.opj_setup_encoder(codec, &parameters, picture) &&
               lib.opj_start_compress(codec, picture, stream) && lib.opj_encode(codec, stream) &&
               lib.opj_end_compress(codec, stream);
    }
    if (stream) lib.opj_stream_destroy(stream);
    if (picture) lib.opj_image_destroy(picture);
    if (codec) lib.opj_destroy_codec(codec);
    return done;
}

static int read_pixels(const opj_image_t *picture, taper_image *out) {
    const size_t pixels = (size_t)out->width * out->height;
    if (picture->numcomps != out->channels) return 0;
    for (uint32_t c = 0; c < out->channels; c++) {
        const opj_image_comp_t *component = &picture->comps[c];
        if (component->w != out->width || component->h != out->height || !component->data) return 0;
        for (size_t i = 0; i < pixels; i++) {
            int v = component->data[i];
            ((uint8_t *)out->pixels)[i * out->channels + c] = (uint8_t)(v < 0     ? 0
                                                                        : v > 255 ? 255
                                                                                  : v);
        }
    }
    return 1;
}

static int decompress(cli_rival_coded *coded) {
    memory from = {.file = &coded->file};
    opj_dparameters_t parameters;
    lib.opj_set_default_decoder_parameters(&parameters);
    opj_codec_t *codec = lib.opj_create_decompress(OPJ_CODEC_J2K);
    opj_stream_t *stream = open_memory(&from, 1);
    opj_image_t *picture = NULL;
    int done = 0;
    if (codec && stream) {
        silence(codec);
        done = lib.opj_setup_decoder(codec, &parameters) &&
               lib.opj_read_header(stream, codec, &picture) &&
               lib.opj_decode(codec, stream, picture) && lib.opj_end_decompress(codec, stream) &&
               read_pixels(picture, &coded->decoded);
    }
    if (picture) lib.opj_image_destroy(picture);
    if (stream) lib.opj_stream_destroy(stream);
    if (codec) lib.opj_destroy_codec(codec);
    return done;
}

/* Remove the comment in which OpenJPEG names itself; no decoder needs it. */
static size_t drop_comments(uint8_t *p, size_t n) {
    size_t at = 2; /* after SOC; the main header ends with SOT */
    while (at + 4 <= n && p[at] == 0xFF && p[at + 1] != 0x90) {
        size_t length = 2 + (size_t)formats_get_u16be(p + at + 2);
        if (length > n - at) break;
        if (p[at + 1] == 0x64) {
            memmove(p + at, p + at + length, n - at - length);
            n -= length;
        } else {
            at += length;
        }
    }
    return n;
}

/* Bytes of the one tile-part between its SOD marker and the end-of-codestream marker. */
static size_t tile_bytes(const uint8_t *p, size_t n) {
    size_t at = 2; /* after SOC */
    while (at + 4 <= n && p[at] == 0xFF && p[at + 1] != 0x93)
        at += 2 + (size_t)formats_get_u16be(p + at + 2);
    return at + 4 <= n ? n - at - 4 : 0;
}

static taper_status encode(const taper_image *image, cli_rival_coded *out) {
    if (!compress(image, out)) return TAPER_ERR_UNSUPPORTED;
    out->file.size = drop_comments(out->file.data, out->file.size);
    out->payload_bytes = tile_bytes(out->file.data, out->file.size);
    return TAPER_OK;
}

static taper_status decode(cli_rival_coded *coded) {
    return decompress(coded) ? TAPER_OK : TAPER_ERR_UNSUPPORTED;
}

static void version(char *text, size_t room) {
    snprintf(text, room, "OpenJPEG %s", lib.opj_version());
}
#endif

const cli_rival cli_rival_jpeg2000 = {
    .name = "jpeg2000",
    .title = "JPEG 2000",
    .codec = "OpenJPEG",
    .package = "libopenjp2-7-dev",
    .payload_is = "bytes of the tile's packets, without main and tile headers",
#ifdef LATE_LIBRARY
    CLI_RIVAL_CODES,
    .library = &lib_library,
#endif
};
