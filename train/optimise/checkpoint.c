/* checkpoint.c -- writes and reads training state; checkpoint.h defines the layout. */
#include "train/optimise/run.h"
#include "train/optimise/checkpoint.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char magic[10] = "TPRCHK\r\n\x1a\n";
enum {
    VERSION = 2,
    FIXED = 10 + 4 + 8 * 2 + 4 + 8 * 2 + 8 * TRAIN_LOSSES + 4,
    ENTRY = 2 * TRAIN_LOSSES * 8,
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

static void write_doubles(formats_buffer *b, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) formats_write_u64le(b, bits_of(x[i]));
}

static taper_status put_head(output *out, const train_checkpoint *c, taper_error *error) {
    formats_buffer b = formats_buffer_make(FIXED + (size_t)TRAIN_CHECKPOINT_MAX_HISTORY * ENTRY);
    formats_write_bytes(&b, magic, sizeof magic);
    formats_write_u32le(&b, VERSION);
    formats_write_u64le(&b, c->fingerprint);
    formats_write_u64le(&b, c->step);
    formats_write_u32le(&b, c->stale_epochs);
    write_doubles(&b, (const double[]){c->best_loss, c->start_loss}, 2);
    write_doubles(&b, c->sum, TRAIN_LOSSES);
    formats_write_u32le(&b, c->n_history);
    for (uint32_t i = 0; i < c->n_history; i++) {
        write_doubles(&b, c->history[i].loss, TRAIN_LOSSES);
        write_doubles(&b, c->history[i].figure, TRAIN_LOSSES);
    }
    formats_write_u32le(&b, c->parts);
    taper_status status = b.status;
    if (status != TAPER_OK)
        formats_fail(error, status, "the checkpoint's learning curve is too long to store");
    else
        status = put(out, b.data, b.size, error);
    formats_buffer_free(&b);
    return status;
}

/* Converts elements of 4 or 8 bytes from the machine's byte order to the file's, in place. */
static void to_file(uint8_t *bytes, size_t n, uint32_t size) {
    for (size_t i = 0; i < n; i++, bytes += size) {
        uint64_t element;
        uint32_t word;
        memcpy(&element, bytes, size == 8 ? sizeof element : 0);
        memcpy(&word, bytes, sizeof word);
        if (size == 8)
            formats_set_u64le(bytes, element);
        else
            formats_set_u32le(bytes, word);
    }
}

/* Adds a message to a failure of the device. */
static taper_status moved(taper_status status, taper_error *error) {
    if (status == TAPER_OK) return status;
    return train_explain(status, error, "the device did not hand over the run's state");
}

static taper_status put_part(output *out, train_stream *stream, const train_checkpoint_part *p,
                             taper_error *error) {
    uint8_t head[12], bytes[CHUNK];
    formats_set_u32le(head, p->size);
    formats_set_u64le(head + 4, p->n);
    TAPER_TRY(put(out, head, sizeof head, error));
    for (size_t at = 0, all = p->n * p->size; at < all;) {
        size_t n = all - at < CHUNK ? all - at : CHUNK;
        const char *from = (const char *)p->memory + at;
        if (p->on_device)
            TAPER_TRY(moved(train_download(stream, bytes, from, n), error));
        else
            memcpy(bytes, from, n);
        to_file(bytes, n / p->size, p->size);
        TAPER_TRY(put(out, bytes, n, error));
        at += n;
    }
    return TAPER_OK;
}

static taper_status put_all(output *out, const train_checkpoint *c, taper_error *error) {
    TAPER_TRY(put_head(out, c, error));
    for (uint32_t i = 0; i < c->parts; i++) TAPER_TRY(put_part(out, c->stream, &c->part[i], error));
    uint8_t crc[4];
    formats_set_u32le(crc, out->crc);
    return put(out, crc, sizeof crc, error);
}

/* *is_one: the file begins like a checkpoint. */
static taper_status look_at(const char *path, int *is_one, taper_error *error) {
    uint8_t bytes[sizeof magic] = {0};
    FILE *file = fopen(path, "rb");
    if (!file) return formats_fail_errno(error, errno, "read");
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    *is_one = n == sizeof bytes && !memcmp(bytes, magic, sizeof magic);
    return TAPER_OK;
}

/* Whether path is a regular file that is not empty. */
static int is_there(const char *path) {
    struct stat there;
    return stat(path, &there) == 0 && S_ISREG(there.st_mode) && there.st_size;
}

taper_status train_checkpoint_replaces(const char *path, taper_error *error) {
    int is_one = 0;
    if (!is_there(path)) return TAPER_OK;
    TAPER_TRY(look_at(path, &is_one, error));
    if (is_one) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_EXISTS,
                        "%.400s exists and is no checkpoint, and would be lost; give another name",
                        path);
}

int train_checkpoint_is_there(const char *path) {
    int is_one = 0;
    return is_there(path) && look_at(path, &is_one, NULL) == TAPER_OK && is_one;
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

static taper_status not_finite(taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the checkpoint holds a number that is not finite; start without --resume");
}

/* Losses that were never measured are INFINITY. */
static taper_status check_losses(const train_checkpoint *c, taper_error *error) {
    int is_finite = !isnan(c->best_loss) && !isnan(c->start_loss);
    for (int i = 0; i < TRAIN_LOSSES; i++) is_finite &= isfinite(c->sum[i]) != 0;
    return is_finite ? TAPER_OK : not_finite(error);
}

static taper_status get_fixed(input *in, train_checkpoint *c, const char *path,
                              taper_error *error) {
    uint8_t bytes[FIXED];
    TAPER_TRY(get(in, bytes, sizeof bytes, error));
    if (memcmp(bytes, magic, sizeof magic))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "this is not a checkpoint of taper; give another name");
    formats_cursor at = formats_cursor_over(bytes + sizeof magic, sizeof bytes - sizeof magic);
    uint32_t version = formats_read_u32le(&at);
    if (version != VERSION)
        return formats_fail(error, TAPER_ERR_VERSION,
                            "the checkpoint has format %u, this program reads %d",
                            (unsigned)version, VERSION);
    uint64_t fingerprint = formats_read_u64le(&at);
    if (fingerprint != c->fingerprint)
        return formats_fail(error, TAPER_ERR_ARG,
                            "the checkpoint %.400s belongs to a run with other options, another "
                            "network or other images; give the same ones, or start without "
                            "--resume",
                            path);
    c->step = formats_read_u64le(&at);
    c->stale_epochs = formats_read_u32le(&at);
    c->best_loss = double_of(formats_read_u64le(&at));
    c->start_loss = double_of(formats_read_u64le(&at));
    for (int i = 0; i < TRAIN_LOSSES; i++) c->sum[i] = double_of(formats_read_u64le(&at));
    c->n_history = formats_read_u32le(&at);
    TAPER_TRY(check_losses(c, error));
    return formats_cursor_check(&at, "checkpoint header", error);
}

static taper_status get_history(input *in, train_checkpoint *c, taper_error *error) {
    if (c->n_history > TRAIN_CHECKPOINT_MAX_HISTORY ||
        c->n_history > (in->source.size - in->at) / ENTRY)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the checkpoint claims %u epochs, more than its size allows; "
                            "start without --resume",
                            (unsigned)c->n_history);
    c->history = calloc(c->n_history ? c->n_history : 1, sizeof *c->history);
    if (!c->history)
        return formats_fail(error, TAPER_ERR_NOMEM,
                            "no memory for the checkpoint's learning curve");
    for (uint32_t i = 0; i < c->n_history; i++) {
        uint8_t bytes[ENTRY];
        TAPER_TRY(get(in, bytes, sizeof bytes, error));
        for (int j = 0; j < TRAIN_LOSSES; j++) {
            c->history[i].loss[j] = double_of(formats_get_u64le(bytes + 8 * j));
            c->history[i].figure[j] = double_of(formats_get_u64le(bytes + 8 * (TRAIN_LOSSES + j)));
        }
    }
    return TAPER_OK;
}

static taper_status wrong_shape(taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the checkpoint's parameters are not of this network's shape");
}

/* The reverse. */
static void to_machine(uint8_t *bytes, size_t n, uint32_t size) {
    for (size_t i = 0; i < n; i++, bytes += size) {
        uint64_t element = size == 8 ? formats_get_u64le(bytes) : 0;
        uint32_t word = size == 4 ? formats_get_u32le(bytes) : 0;
        if (size == 8)
            memcpy(bytes, &element, sizeof element);
        else
            memcpy(bytes, &word, sizeof word);
    }
}

/* Checks n bytes of floats in the machine's byte order. */
static taper_status check_real(const uint8_t *bytes, size_t n, taper_error *error) {
    for (size_t i = 0; i < n; i += sizeof(float)) {
        float x;
        memcpy(&x, bytes + i, sizeof x);
        if (!isfinite(x)) return not_finite(error);
    }
    return TAPER_OK;
}

static taper_status get_part(input *in, train_stream *stream, const train_checkpoint_part *p,
                             taper_error *error) {
    uint8_t head[12], bytes[CHUNK];
    TAPER_TRY(get(in, head, sizeof head, error));
    if (formats_get_u32le(head) != p->size || formats_get_u64le(head + 4) != p->n)
        return wrong_shape(error);
    for (size_t at = 0, all = p->n * p->size; at < all;) {
        size_t n = all - at < CHUNK ? all - at : CHUNK;
        char *to = (char *)p->memory + at;
        TAPER_TRY(get(in, bytes, n, error));
        to_machine(bytes, n / p->size, p->size);
        if (p->is_real) TAPER_TRY(check_real(bytes, n, error));
        if (p->on_device)
            TAPER_TRY(moved(train_upload(stream, to, bytes, n), error));
        else
            memcpy(to, bytes, n);
        at += n;
    }
    return TAPER_OK;
}

static taper_status get_parts(input *in, const train_checkpoint *c, taper_error *error) {
    uint8_t count[4];
    TAPER_TRY(get(in, count, sizeof count, error));
    if (formats_get_u32le(count) != c->parts) return wrong_shape(error);
    for (uint32_t i = 0; i < c->parts; i++) TAPER_TRY(get_part(in, c->stream, &c->part[i], error));
    return TAPER_OK;
}

static taper_status get_all(input *in, train_checkpoint *c, const char *path, taper_error *error) {
    TAPER_TRY(get_fixed(in, c, path, error));
    TAPER_TRY(get_history(in, c, error));
    TAPER_TRY(get_parts(in, c, error));
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
    taper_status status = get_all(&in, checkpoint, path, error);
    formats_file_close(file);
    if (status == TAPER_OK) return TAPER_OK;
    free(checkpoint->history);
    checkpoint->history = NULL;
    return status;
}

taper_status train_checkpoint_suffixed(char **to, const char *path, const char *suffix,
                                       taper_error *error) {
    size_t size = path ? strlen(path) + strlen(suffix) + 1 : 0;
    *to = path ? malloc(size) : NULL;
    if (path && !*to)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a checkpoint's name");
    if (path) snprintf(*to, size, "%s%s", path, suffix);
    return TAPER_OK;
}
