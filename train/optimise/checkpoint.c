/* checkpoint.c -- writing and reading of training state; the layout stands in checkpoint.h. */
#include "train/optimise/checkpoint.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[10] = "TPRCHK\r\n\x1a\n";
enum {
    VERSION = 1,
    FIXED = 10 + 4 + 8 * 3 + 4 * 2 + 8 * 2 + 8 * 3 + 8 + 4,
    ENTRY = 5 * 8,
    SHAPE = 4 + 8,
    CHUNK = 1 << 16
};

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* --- writing ---------------------------------------------------------------------------------- */

typedef struct output {
    formats_atomic_file *file;
    uint32_t crc;
} output;

static taper_status put(output *out, const void *bytes, size_t n, taper_error *error) {
    out->crc = formats_crc32c(out->crc, bytes, n);
    return formats_atomic_file_write(out->file, bytes, n, error);
}

static taper_status put_head(output *out, const train_checkpoint *c, taper_error *error) {
    formats_buffer b =
        formats_buffer_make(FIXED + (size_t)TRAIN_CHECKPOINT_MAX_HISTORY * ENTRY + SHAPE);
    formats_write_bytes(&b, magic, sizeof magic);
    formats_write_u32le(&b, VERSION);
    formats_write_u64le(&b, c->fingerprint);
    formats_write_u64le(&b, c->step);
    formats_write_u64le(&b, c->adam_step);
    formats_write_u32le(&b, c->stale_epochs);
    formats_write_u32le(&b, c->stage);
    const double numbers[] = {c->best_loss, c->start_loss, c->sum_loss, c->sum_distortion,
                              c->sum_bits};
    for (int i = 0; i < 5; i++) formats_write_u64le(&b, bits_of(numbers[i]));
    formats_write_u64le(&b, c->sum_rows);
    formats_write_u32le(&b, c->n_history);
    for (uint32_t i = 0; i < c->n_history; i++) {
        const train_history *h = &c->history[i];
        const double entry[] = {h->loss, h->validation_loss, h->distortion, h->bits, h->rate};
        for (int j = 0; j < 5; j++) formats_write_u64le(&b, bits_of(entry[j]));
    }
    formats_write_u32le(&b, TRAIN_CHECKPOINT_VECTORS);
    formats_write_u64le(&b, c->n);
    taper_status status = b.status;
    if (status != TAPER_OK)
        formats_fail(error, status, "the checkpoint's learning curve is too long to store");
    else
        status = put(out, b.data, b.size, error);
    formats_buffer_free(&b);
    return status;
}

static taper_status put_vector(output *out, const float *x, uint64_t n, taper_error *error) {
    uint8_t bytes[CHUNK];
    for (uint64_t at = 0; at < n;) {
        size_t count = n - at < CHUNK / 4 ? (size_t)(n - at) : CHUNK / 4;
        for (size_t i = 0; i < count; i++) {
            uint32_t word;
            memcpy(&word, x + at + i, sizeof word);
            formats_set_u32le(bytes + 4 * i, word);
        }
        TAPER_TRY(put(out, bytes, 4 * count, error));
        at += count;
    }
    return TAPER_OK;
}

static taper_status put_all(output *out, const train_checkpoint *c, taper_error *error) {
    TAPER_TRY(put_head(out, c, error));
    for (int v = 0; v < TRAIN_CHECKPOINT_VECTORS; v++)
        TAPER_TRY(put_vector(out, c->vector[v], c->n, error));
    uint8_t crc[4];
    formats_set_u32le(crc, out->crc);
    return put(out, crc, sizeof crc, error);
}

taper_status train_checkpoint_write(const char *path, const train_checkpoint *checkpoint,
                                    const formats_atomic_watch *watch, taper_error *error) {
    output out = {NULL, 0};
    TAPER_TRY(formats_atomic_file_open(&out.file, path, FORMATS_ATOMIC_OVERWRITE, watch, error));
    taper_status status = put_all(&out, checkpoint, error);
    if (status == TAPER_OK) return formats_atomic_file_commit(out.file, error);
    formats_atomic_file_abort(out.file);
    return status;
}

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct input {
    taper_source source;
    uint64_t at;
    uint32_t crc;
} input;

static taper_status get(input *in, void *to, size_t n, taper_error *error) {
    if (n > in->source.size - in->at)
        return formats_fail(
            error, TAPER_ERR_TRUNCATED,
            "the checkpoint ends at byte %llu, inside its content; start without --resume",
            (unsigned long long)in->source.size);
    TAPER_TRY(formats_source_read(&in->source, in->at, to, n, error));
    in->at += n;
    in->crc = formats_crc32c(in->crc, to, n);
    return TAPER_OK;
}

static taper_status get_fixed(input *in, train_checkpoint *c, taper_error *error) {
    uint8_t bytes[FIXED];
    TAPER_TRY(get(in, bytes, sizeof bytes, error));
    if (memcmp(bytes, magic, sizeof magic))
        return formats_fail(error, TAPER_ERR_CORRUPT, "this is not a checkpoint of taper");
    formats_cursor at = formats_cursor_over(bytes + sizeof magic, sizeof bytes - sizeof magic);
    uint32_t version = formats_read_u32le(&at);
    if (version != VERSION)
        return formats_fail(error, TAPER_ERR_VERSION,
                            "the checkpoint has format %u, this program reads %d",
                            (unsigned)version, VERSION);
    uint64_t fingerprint = formats_read_u64le(&at);
    if (fingerprint != c->fingerprint)
        return formats_fail(error, TAPER_ERR_ARG,
                            "the checkpoint belongs to a run with other options, another network "
                            "or other images; give the same ones, or start without --resume");
    c->step = formats_read_u64le(&at);
    c->adam_step = formats_read_u64le(&at);
    c->stale_epochs = formats_read_u32le(&at);
    c->stage = formats_read_u32le(&at);
    double *numbers[] = {&c->best_loss, &c->start_loss, &c->sum_loss, &c->sum_distortion,
                         &c->sum_bits};
    for (int i = 0; i < 5; i++) *numbers[i] = double_of(formats_read_u64le(&at));
    c->sum_rows = formats_read_u64le(&at);
    c->n_history = formats_read_u32le(&at);
    return formats_cursor_check(&at, "checkpoint header", error);
}

static taper_status get_history(input *in, train_checkpoint *c, taper_error *error) {
    if (c->n_history > TRAIN_CHECKPOINT_MAX_HISTORY ||
        c->n_history > (in->source.size - in->at) / ENTRY)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the checkpoint claims %u epochs, more than it has room for",
                            (unsigned)c->n_history);
    c->history = calloc(c->n_history ? c->n_history : 1, sizeof *c->history);
    if (!c->history)
        return formats_fail(error, TAPER_ERR_NOMEM,
                            "no memory for the checkpoint's learning curve");
    for (uint32_t i = 0; i < c->n_history; i++) {
        uint8_t bytes[ENTRY];
        TAPER_TRY(get(in, bytes, sizeof bytes, error));
        train_history *h = &c->history[i];
        double *entry[] = {&h->loss, &h->validation_loss, &h->distortion, &h->bits, &h->rate};
        for (int j = 0; j < 5; j++) *entry[j] = double_of(formats_get_u64le(bytes + 8 * j));
    }
    uint8_t shape[SHAPE];
    TAPER_TRY(get(in, shape, sizeof shape, error));
    if (formats_get_u32le(shape) != TRAIN_CHECKPOINT_VECTORS ||
        formats_get_u64le(shape + 4) != c->n)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the checkpoint's parameters are not of this network's shape");
    return TAPER_OK;
}

static taper_status get_vector(input *in, float *x, uint64_t n, taper_error *error) {
    uint8_t bytes[CHUNK];
    for (uint64_t at = 0; at < n;) {
        size_t count = n - at < CHUNK / 4 ? (size_t)(n - at) : CHUNK / 4;
        TAPER_TRY(get(in, bytes, 4 * count, error));
        for (size_t i = 0; i < count; i++) {
            uint32_t word = formats_get_u32le(bytes + 4 * i);
            memcpy(x + at + i, &word, sizeof word);
        }
        at += count;
    }
    return TAPER_OK;
}

static taper_status get_all(input *in, train_checkpoint *c, taper_error *error) {
    TAPER_TRY(get_fixed(in, c, error));
    TAPER_TRY(get_history(in, c, error));
    for (int v = 0; v < TRAIN_CHECKPOINT_VECTORS; v++)
        TAPER_TRY(get_vector(in, c->vector[v], c->n, error));
    uint32_t expected = in->crc;
    uint8_t crc[4];
    TAPER_TRY(get(in, crc, sizeof crc, error));
    if (formats_get_u32le(crc) != expected || in->at != in->source.size)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the checkpoint's checksum does not hold; start without --resume");
    return TAPER_OK;
}

taper_status train_checkpoint_read(const char *path, train_checkpoint *checkpoint,
                                   taper_error *error) {
    formats_file *file;
    checkpoint->history = NULL;
    TAPER_TRY(formats_file_open(&file, path, error));
    input in = {formats_file_source(file), 0, 0};
    taper_status status = get_all(&in, checkpoint, error);
    formats_file_close(file);
    if (status == TAPER_OK) return TAPER_OK;
    free(checkpoint->history);
    checkpoint->history = NULL;
    return status;
}

taper_status train_checkpoint_beside(char **to, const char *path, const char *suffix,
                                     taper_error *error) {
    size_t size = path ? strlen(path) + strlen(suffix) + 1 : 0;
    *to = path ? malloc(size) : NULL;
    if (path && !*to)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a checkpoint's name");
    if (path) snprintf(*to, size, "%s%s", path, suffix);
    return TAPER_OK;
}
