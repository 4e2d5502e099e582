/* taper_types.h -- the value types every room shares: status, error, image, limits, byte source.
 *
 * Part of the public interface; `make install` merges it into taper.h.
 * Numbers of the enumerations are part of the ABI: append, never renumber. */
#ifndef TAPER_TYPES_H
#define TAPER_TYPES_H
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(__wasm__)
#define TAPER_API __attribute__((visibility("default")))
#else
#define TAPER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What every function that can fail returns. The caller's next step stands beside each. */
typedef enum taper_status {
    TAPER_OK = 0,
    TAPER_ERR_ARG = 1,   /* the caller broke the contract of the header: a bug, mend the call */
    TAPER_ERR_NOMEM = 2, /* no memory: free something or lower the limits */
    TAPER_ERR_TRUNCATED = 10, /* ran out of input bytes: supply more */
    TAPER_ERR_CORRUPT = 11,   /* bytes present but not a legal stream: fetch the file anew */
    TAPER_ERR_VERSION = 12,   /* not of a version that this build reads: update taper */
    TAPER_ERR_LIMIT =
        13, /* legal, but above the caller's limits: raise them if the source is trusted */
    TAPER_ERR_MODEL = 20,       /* the container names a model that was not supplied: supply it */
    TAPER_ERR_UNSUPPORTED = 30, /* a kind of input or an operation this build lacks */
    TAPER_ERR_DEVICE = 31,      /* the driver reported a fault */
    TAPER_ERR_IO = 40,    /* the operating system refused a read or write: errno is in the text */
    TAPER_ERR_EXISTS = 41 /* the target exists and overwriting was not asked for */
} taper_status;

/* One sentence for a person: the place in the file and the remedy, without the file's name,
 * which the caller knows. text is always terminated. Functions accept NULL where nobody will read
 * it. */
typedef struct taper_error {
    taper_status status;
    char text[256];
} taper_error;

/* An image in memory: interleaved channels, rows top to bottom without padding.
 * depth 8: pixels are uint8_t; depth 16: native-endian uint16_t over the full range 0..65535.
 * channels: 1 grey, 2 grey + alpha, 3 RGB, 4 RGB + alpha (alpha last, straight, not premultiplied).
 * Size in bytes: width * height * channels * (depth / 8). */
typedef struct taper_image {
    uint32_t width, height; /* pixels, 1.. */
    uint8_t channels;       /* 1..4 */
    uint8_t depth;          /* bits per sample: 8 or 16 */
    void *pixels;
} taper_image;

/* Ceilings a reader enforces before it takes memory. Zero in a field means its default. */
typedef struct taper_limits {
    uint64_t max_pixels;      /* per image; default 2^28 (268 million) */
    uint64_t max_images;      /* per set or container; default 2^26 - 1, but of a container no more
                                 than 2^20 and 256 for each byte of front matter, of an IDX file
                                 2^16 and 16 for each byte. A number that is given holds alone */
    uint64_t max_memory;      /* bytes; default 2^32. An encoder, a decoder, taper_verify,
                                 taper_truncate, taper_repack and taper_merge each charge one
                                 account with all that they take, front matter of all sources and
                                 of the result, images, groups, chunks and what is rendered, before
                                 they take it. Beside it: the model, stacks, the allocator's own */
    uint64_t max_model_bytes; /* unpacked model; default 2^29 - 1, but no more than 2^24 and 256
                                 for each byte of its file. A number that is given holds alone */
    uint64_t max_work;        /* multiply-adds a pixel of the worst of images that a model may take
                                 (taper_model_info.most_work); default 200,000 */
    uint64_t taken;           /* bytes that the caller holds beside max_memory, of a limit of its
                                 own: messages propose so much more; default 0 */
} taper_limits;

/* Random-access bytes. read fills exactly n bytes from offset (offset + n <= size) or fails.
 * (TAPER_ERR_IO). Several threads may call it at once where what reads was given several. */
typedef struct taper_source {
    void *user;
    uint64_t size;
    taper_status (*read)(void *user, uint64_t offset, void *to, size_t n);
} taper_source;

/* Sequential output: takes all n bytes or returns an error, which the writer passes on. */
typedef struct taper_sink {
    void *user;
    taper_status (*write)(void *user, const void *bytes, size_t n);
} taper_sink;

#ifdef __cplusplus
}
#endif
#endif
