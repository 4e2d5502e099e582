/* taper_types.h -- the types that all modules share: status, error, image, limits, source, sink.
 * A part of the public interface.
 *
 * The numbers of the enumerations are part of the ABI: append, never renumber. */
#ifndef TAPER_TYPES_H
#define TAPER_TYPES_H
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(__wasm__)
#define TAPER_API __attribute__((visibility("default")))
#else
#define TAPER_API
#endif

/* The version of this header; taper_version is that of the library. Programs of one major version
 * run with every later library of that version. */
#define TAPER_VERSION       "1.0.0"
#define TAPER_VERSION_MAJOR 1
#define TAPER_VERSION_MINOR 0
#define TAPER_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* The result of every function that can fail, and what the caller can do. */
typedef enum taper_status {
    TAPER_OK = 0,
    TAPER_ERR_ARG = 1,        /* an argument breaks the contract of the header: correct the call */
    TAPER_ERR_NOMEM = 2,      /* out of memory: free some, or lower the limits */
    TAPER_ERR_TRUNCATED = 10, /* the input ends early: supply more bytes */
    TAPER_ERR_CORRUPT = 11,   /* the input is damaged or no legal file: fetch it again */
    TAPER_ERR_VERSION = 12,   /* the input has a version that this build cannot read: update */
    TAPER_ERR_LIMIT = 13,     /* above a limit of the caller: raise it if the source is trusted */
    TAPER_ERR_MODEL = 20,     /* the container needs a model that was not supplied: supply it */
    TAPER_ERR_UNSUPPORTED = 30, /* this build does not support this input or operation */
    TAPER_ERR_DEVICE = 31,      /* the driver of the device reported an error */
    TAPER_ERR_IO = 40,          /* the system refused a read or write; the text has the reason */
    TAPER_ERR_EXISTS = 41       /* the target exists, and overwriting was not requested */
} taper_status;

/* What a failure is about, for programs that can do something about it. `needed` of taper_error is
 * the value that would be accepted. Facts of limits come with TAPER_ERR_LIMIT; where the need is
 * not known exactly, `needed` is a power of two that is above the limit. */
typedef enum taper_fact {
    TAPER_FACT_NONE = 0,
    /* A member of taper_limits, in its unit. */
    TAPER_FACT_MAX_PIXELS = 1,
    TAPER_FACT_MAX_IMAGES = 2,
    TAPER_FACT_MAX_MEMORY = 3, /* whole MiB; contains taper_limits.taken */
    TAPER_FACT_MAX_MODEL_BYTES = 4,
    TAPER_FACT_MAX_WORK = 5,
    /* The container needs the model with the id `needed` (TAPER_ERR_MODEL). */
    TAPER_FACT_MODEL = 6,
    /* The image has an alpha channel (TAPER_ERR_UNSUPPORTED). needed: 0. */
    TAPER_FACT_ALPHA = 7,
    /* The image is not of the size of the model's window (TAPER_ERR_UNSUPPORTED). needed: 0. */
    TAPER_FACT_IMAGE_SIZE = 8,
    /* The model cannot have this allocation, but the taper_allocation `needed` (TAPER_ERR_ARG). */
    TAPER_FACT_ALLOCATION = 9,
    /* So many threads cannot be started; `needed` can (TAPER_ERR_NOMEM). */
    TAPER_FACT_THREADS = 10,
    /* Containers that do not fit together. A container is cut: `needed` bytes are missing
     * (TAPER_ERR_ARG). */
    TAPER_FACT_BYTES_MISSING = 11,
    /* Another layout; needed: the taper_layout of the first (TAPER_ERR_ARG). */
    TAPER_FACT_LAYOUT = 12,
    /* Search codes of another model or length; needed: the id of the first's (TAPER_ERR_ARG). */
    TAPER_FACT_SEARCH_CODES = 13,
    /* Too many distinct layouts of layers (TAPER_ERR_LIMIT). needed: how many are possible. */
    TAPER_FACT_LAYERS = 14,
    /* A file exists, and overwriting it was not requested (TAPER_ERR_EXISTS). needed: 0. */
    TAPER_FACT_OVERWRITE = 15,
    /* The input is no model, index or container, but another kind of file (TAPER_ERR_CORRUPT).
     * needed: 0. */
    TAPER_FACT_NO_MODEL = 16,
    TAPER_FACT_NO_INDEX = 17,
    TAPER_FACT_NO_CONTAINER = 18
} taper_fact;

/* A failure: its status, facts, and one sentence for people, which says where the problem is. It
 * has no file name, because the caller knows it. text is always NUL-terminated. Functions accept
 * NULL instead of a taper_error. */
typedef struct taper_error {
    taper_status status;
    taper_fact fact;
    /* See taper_fact; otherwise 0. */
    uint64_t needed;
    /* Which of several inputs failed, from 1: a container of taper_merge, an image of
     * taper_embedder_codes. 0: not known. */
    uint64_t item;
    uint64_t reserved[4]; /* 0 */
    char text[256];
} taper_error;

/* An image in memory: interleaved channels, rows from top to bottom without padding.
 * depth 8: pixels are uint8_t. depth 16: native-endian uint16_t over the full range 0..65535.
 * channels: 1 grey, 2 grey + alpha, 3 RGB, 4 RGB + alpha (alpha last, not premultiplied).
 * Size in bytes: width * height * channels * (depth / 8). */
typedef struct taper_image {
    uint32_t width, height; /* pixels, 1.. */
    uint8_t channels;       /* 1..4 */
    uint8_t depth;          /* bits per sample: 8 or 16 */
    void *pixels;
} taper_image;

/* What belongs to an image beside its pixels. Numbers that are 0 and pointers that are NULL: none.
 * The pixels are upright already: a writer sets the orientation in EXIF and XMP to 1. */
typedef struct taper_metadata {
    size_t size; /* sizeof(taper_metadata), set by the caller */
    /* Colour profile (ICC), of at most TAPER_MOST_METADATA bytes like the next two. */
    const void *icc;
    size_t icc_size;
    /* EXIF: a TIFF structure, which begins with "II" or "MM". */
    const void *exif;
    size_t exif_size;
    /* XMP packet. */
    const void *xmp;
    size_t xmp_size;
    /* Colour primaries, transfer, matrix and full range by the numbers of ITU-T H.273; with
     * has_cicp. */
    int has_cicp;
    uint8_t cicp[4];
    /* Gamma and chromaticities as in PNG (gAMA, cHRM), in 1/100000, below 2^31: x and y of white,
     * red, green and blue. Chromaticities all 0: none. */
    uint32_t gamma;
    uint32_t chromaticities[8];
    /* Pixels per metre, or only their ratio, below 2^31; both 0: none. */
    uint32_t density_x, density_y;
    int density_is_ratio;
    /* Time of the file: nanoseconds since 1970, UTC; with has_modified. */
    int has_modified;
    int64_t modified_ns;
} taper_metadata;
#define TAPER_MOST_METADATA ((size_t)1 << 24)

/* Which part of a set a container or an index has, and what it was made of. The images of the set
 * are numbered in the order in which they were listed. Part k of n has those from
 * floor(k * images / n) up to the first of part k + 1. So each part is known without the others,
 * and parts in order are the set in its order. */
typedef struct taper_part {
    size_t size;    /* sizeof(taper_part), set by the caller */
    uint32_t parts; /* 1..TAPER_MOST_PARTS */
    uint32_t part;  /* 0..parts - 1 */
    /* Of the whole set, as they were listed: 1..TAPER_MOST_SET. */
    uint64_t images;
    /* Images of the part that could not be used. The others are stored, as images or as further
     * names. */
    uint64_t left_out;
    /* Equal if and only if the names of the whole set and their order, the model and the options,
     * and the names and contents of the inputs of this part are the same. Any numbers: the maker's
     * choice, which readers compare. */
    uint64_t set_digest, how_digest, inputs_digest;
} taper_part;
#define TAPER_MOST_PARTS ((uint32_t)1 << 20)
#define TAPER_MOST_SET   ((uint64_t)1 << 40)

/* Limits that a reader enforces before it allocates memory. 0: the default, except for size. */
typedef struct taper_limits {
    size_t size; /* sizeof(taper_limits), set by the caller */
    /* Pixels of one image; default 2^28 (268 million). */
    uint64_t max_pixels;
    /* Images of a set or container; default 2^26 - 1. With the default, small files have lower
     * limits: a container 2^20 + 256 per byte of front matter, an IDX file 2^16 + 16 per byte. */
    uint64_t max_images;
    /* Bytes of memory; default 2^32. Each encoder, decoder and call of taper_verify,
     * taper_truncate, taper_repack and taper_merge counts its memory before it allocates: front
     * matter, images, groups, chunks and rendered pixels. Not counted: the model, stacks, the
     * overhead of the allocator, and what a handle or a call takes in any case: up to 300 KiB. */
    uint64_t max_memory;
    /* Bytes of an unpacked model; default 2^29 - 1. With the default, small files have a lower
     * limit: 2^24 + 256 per byte. */
    uint64_t max_model_bytes;
    /* Multiply-adds per pixel that a model may need for the most expensive image
     * (taper_model_info.most_work); default 200,000. */
    uint64_t max_work;
    /* Bytes that the caller has allocated under its own limit, outside max_memory. Messages add
     * them to the limit that they propose; default 0. */
    uint64_t taken;
} taper_limits;

/* Random-access bytes. read fills exactly n bytes from offset (offset + n <= size), or fails
 * (TAPER_ERR_IO). Several threads may call it at once if its reader was given several threads. */
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
