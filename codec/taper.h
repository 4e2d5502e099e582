/* taper.h -- the public interface of libtaper, and its manual.
 *
 * A CONTAINER (.taper) holds a set of images. Its front matter comes first: header, tables, names,
 * labels and models. Every prefix that holds the front matter decodes to the whole set, and every
 * further byte improves the images. A MODEL (.tpm) defines how images become codes. A container is
 * decoded with the model that encoded it; the container may carry that model.
 *
 * Rules for every function:
 *  - 0 (TAPER_OK) is success. After a failure, `error` (which may be NULL) holds the reason, and
 *    facts about it (taper_fact).
 *  - The library never prints, never exits and has no global state.
 *  - One thread at a time may use a handle; different threads may use different handles at once.
 *    Models, open containers and open indexes do not change: any number of handles and threads may
 *    share one.
 *  - Input bytes are not trusted: sizes are checked against taper_limits before memory is
 *    allocated.
 *  - Every function returns TAPER_ERR_ARG for these errors, even where its text does not say so: a
 *    pointer is NULL that must not be; a function of a source or a sink is NULL; an array would be
 *    larger than the address space; a call is out of order. Such a call changes nothing, and the
 *    handle stays usable. A function without a status returns 0, NULL, -1 or UINT32_MAX.
 *  - A pointer argument is used during the call only, unless the text says otherwise.
 *  - Structs that may grow begin with their size: set `.size = sizeof s` of options and of infos
 *    before the call. A library that is older or newer than this header then reads and writes what
 *    both know; what the caller does not know is 0, the default. TAPER_ERR_ARG: the size is not
 *    set. TAPER_ERR_UNSUPPORTED: an option is set that an older library does not know. */
#ifndef TAPER_H
#define TAPER_H
/* The parts of the interface. The build merges them into the installed header. */
#include "formats/taper_types.h" /* status, error, image, limits, sources and sinks of bytes */
#include "codec/taper_model.h"   /* models */
#include "codec/taper_search.h"  /* search in codes of numbers */
#include "codec/taper_index.h"   /* search in codes of bits */
#include "codec/taper_quality.h" /* metrics of images and codecs; scaling */
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, as TAPER_VERSION: "1.0.0". */
TAPER_API const char *taper_version(void);

/* Write the arithmetic that is used on this processor, e.g. "plain C", to text[room]; a text that
 * does not fit is cut. Results do not depend on it. */
TAPER_API void taper_kernels(char *text, size_t room);

/* A short English name of a status, e.g. "corrupt". Never NULL. */
TAPER_API const char *taper_status_name(taper_status status);

/* --- encoding: images in, one file at the end ------------------------------------------- */

typedef struct taper_encoder taper_encoder;

typedef enum taper_layout {
    /* Layers over groups of many images: a prefix of the file is the whole set at lower quality. */
    TAPER_LAYOUT_SET = 0,
    /* One complete image after the other: one read fetches one image. */
    TAPER_LAYOUT_IMAGE = 1,
    /* Groups of one image. Up to some 0.06 bits per pixel small layers of all images, then the rest
     * of each image: one read fetches all images coarsely, a second one completes any of them. In
     * small layers, TAPER_ALLOCATION_EVEN lets plain images be ahead of detailed ones, if the first
     * image has 65,536 pixels or more and there are no aims. */
    TAPER_LAYOUT_GALLERY = 2
} taper_layout;

/* How the bytes are distributed over the images of a set, at every cut of the file. */
typedef enum taper_allocation {
    /* Each bit goes where it reduces the squared error most. */
    TAPER_ALLOCATION_EVEN = 0,
    /* Each bit goes where it raises the mean PSNR of the images most: smooth images get more. */
    TAPER_ALLOCATION_MEAN = 1,
    /* All images have about the same PSNR: detailed images get more. */
    TAPER_ALLOCATION_EQUAL = 2
} taper_allocation;

/* How drawings are coded: images of few colours, or with large areas of one colour. */
typedef enum taper_drawings {
    /* With built-in models, by their colours, exactly, where that is small: at most 3 bits a pixel.
     * Above 2^14 pixels it must pay, too: unless the container is lossless, an image is coded like
     * others where that is estimated to take less than about a third. So are images of more than
     * 2^24 pixels. */
    TAPER_DRAWINGS_AUTO = 0,
    /* With any model, at most 3 bits a pixel, whether it pays or not. */
    TAPER_DRAWINGS_EXACT = 1,
    /* Like all images, with the model. */
    TAPER_DRAWINGS_LOSSY = 2
} taper_drawings;

/* {.size = sizeof(taper_encode_options)} holds the defaults. */
typedef struct taper_encode_options {
    size_t size; /* sizeof(taper_encode_options) */
    /* Default: TAPER_LAYOUT_SET. */
    taper_layout layout;
    /* Default: TAPER_ALLOCATION_EVEN, the only one for binary models. */
    taper_allocation allocation;
    /* Images in a group, 1..65536. 0: chosen so that a group holds about a million pixels. Only for
     * TAPER_LAYOUT_SET: in the other layouts each image is a group. Unless the allocation is even,
     * all groups also end after 16,384 images, or 4 * group_images if that is more. */
    uint32_t group_images;
    /* Upper limit of the image data, in bytes per million pixels (bits per pixel * 125,000).
     * A set of several groups, with TAPER_LAYOUT_IMAGE, of at most 4,096 pixels, or with `measure`
     * ends below it if its images are smoother than the model's training images; others are
     * at most 2 KiB and the front matter below it. Saves time, also in addition to the limit of
     * taper_encoder_finish. 0: encode all that the model represents, about 50 dB. */
    uint64_t target_bytes_per_megapixel;
    /* Nonzero: the container carries its model; model_bytes must be set. Of a model in several
     * stages the front matter has the first ones, and the others are layers between those of
     * passes, before what needs them; not in TAPER_LAYOUT_IMAGE, and not if there is one layer. */
    int embed_model;
    /* The contents of the .tpm file, for embed_model. Borrowed until the encoder is freed. */
    const void *model_bytes;
    size_t model_size;
    /* Worker threads. 0 or 1: only the calling thread. Values above 256 count as 256. The output is
     * the same for every value. */
    unsigned threads;
    /* An empty file, open for reading and writing, that stores compressed chunks until
     * taper_encoder_finish. The caller closes it after the encoder is freed. NULL: tmpfile(). */
    FILE *spool;
    /* NULL: the defaults. */
    const taper_limits *limits;
    /* Nonzero: omits the last step for sets of at most 4,096 pixels (taper_encoder_finish). Saves
     * a second; a longer prefix of a smooth image may then be up to 10 dB worse than a shorter
     * one. */
    int quick;
    /* Nonzero: measures the quality for taper_encoder_quality; about 5 % more time. */
    int measure;
    /* Nonzero: images with aims (taper_encoder_set_aim) are not at their end there. The data of all
     * images up to their aims come first, then the rest: so a cut has images below their aims only
     * if it is too short for all of them. */
    int beyond_aims;
    /* Default: TAPER_DRAWINGS_AUTO. */
    taper_drawings drawings;
    /* Nonzero: the container ends with what makes every image equal to its original, pixel for
     * pixel, on every machine. The data before it end at the aim (taper_encoder_set_aim), or at
     * target_bytes_per_megapixel, which does not limit the container then; 0: about 0.75 bits per
     * pixel: with fewer the container is shorter, and cuts are worse to look at. Images are kept
     * whole in memory. TAPER_ERR_UNSUPPORTED: the model's pixels may differ from machine to
     * machine. */
    int lossless;
    /* Nonzero: the container is one of several that taper_merge joins. Its layers and rate classes
     * depend on the model and these options, and not on its images, so that any number of such
     * containers can be merged; about 300 bytes more. Also omits the last step for small sets, as
     * `quick` does, since the merged set is larger. */
    int for_merge;
} taper_encode_options;

/* Create an encoder. model: NULL means the built-in model "photo". options: NULL means all
 * defaults. Compressed chunks are stored in the spool, so memory does not grow with the set.
 *
 *     taper_status status = taper_encoder_new(&encoder, NULL, NULL, &error);
 *     if (!status) status = taper_encoder_add(encoder, &image, NULL, -1, &error);
 *     if (!status) status = taper_encoder_finish_file(encoder, 0, "image.taper", &error);
 *     taper_encoder_free(encoder);
 *
 * On success the caller owns *out; on failure it is NULL. TAPER_ERR_ARG: an option is out of range;
 * the model is an embedding model, which has no decoder; or model_bytes is not this model's file.
 */
TAPER_API taper_status taper_encoder_new(taper_encoder **out, const taper_model *model,
                                         const taper_encode_options *options, taper_error *error);
/* Append an image. The pixels are copied. name: a relative path ("cat/1.jpg"), or NULL. label: a
 * class from 0, or -1 for none.
 *
 * After these errors the image is not added, and the encoder stays usable:
 *   TAPER_ERR_UNSUPPORTED  the image is in colour and the model is grey (a colour model takes grey
 *                          images)
 *   TAPER_ERR_LIMIT        the image, or the number of images, is above a limit
 *   TAPER_ERR_ARG          the image or its name is not legal, or search codes were already set
 * Any other error is final, and so is TAPER_ERR_LIMIT if the set or a group exceeds max_memory:
 * taper_encoder_finish returns it again. */
TAPER_API taper_status taper_encoder_add(taper_encoder *encoder, const taper_image *image,
                                         const char *name, int32_t label, taper_error *error);
/* Give an image that was added one more name: that of a file that is equal to the image's, and is
 * so stored in some 10 bytes. image: its number, from 0. name, label: as above, but not NULL.
 * modified_ns: the time of that file, as in taper_metadata; NULL: none. Other metadata are those of
 * the image. In the container further names are numbered behind the images, in the order of these
 * calls. Readers that do not know them skip them. TAPER_ERR_ARG: there is no such image, or the
 * name is not legal. Other errors are final. */
TAPER_API taper_status taper_encoder_add_name(taper_encoder *encoder, uint64_t image,
                                              const char *name, int32_t label,
                                              const int64_t *modified_ns, taper_error *error);
/* Store metadata of the image that was added last: colour profile, EXIF, time and so on. Copied,
 * once for equal payloads of any image. Call at most once for an image. Metadata are in the front
 * matter, so every cut has them; readers that do not know them skip them; truncate, repack and
 * merge keep them. Colours are not converted, and pixels do not depend on metadata.
 * TAPER_ERR_ARG: a number is out of range, or a payload is larger than TAPER_MOST_METADATA. Other
 * errors are final, as of taper_encoder_add. */
TAPER_API taper_status taper_encoder_set_metadata(taper_encoder *encoder,
                                                  const taper_metadata *metadata,
                                                  taper_error *error);
/* Set the PSNR, in dB, at which the images end that are added from now on; 0: at about 50 dB, with
 * all that the model represents, as without this call. An image then ends, by itself, at the first
 * of 15 numbers of passes at which its PSNR is at least so high; some 0.4 dB above it in the mean.
 * The numbers of passes lie between 14 % and all of the model's data, so a low aim may be exceeded
 * by more. Images that cannot reach it keep all their passes.
 *
 * The PSNR is estimated before coding, as taper_encoder_quality measures it, on a sample of at most
 * a quarter of a million pixels an image. The estimate is within 0.5 dB for most images.
 *
 * Call it before the first image, and then as often as the aim changes. TAPER_ERR_ARG: an aim is
 * not 0..TAPER_PSNR_CEILING_DB; the first call comes after an image; or the allocation is not even.
 * TAPER_ERR_UNSUPPORTED: the model is binary or has no linear path. Nothing has changed then. */
TAPER_API taper_status taper_encoder_set_aim(taper_encoder *encoder, double psnr_db,
                                             taper_error *error);
/* An image that is read row by row, from top to bottom, once. */
typedef struct taper_row_source {
    size_t size; /* sizeof(taper_row_source), set by the caller */
    uint32_t width, height;
    uint8_t channels, depth; /* as in taper_image */
    void *user;
    /* Fill rows->pixels with the next rows->height rows. An error ends the call that reads. */
    taper_status (*read)(void *user, const taper_image *rows);
} taper_row_source;
/* The same for an image that is read during the call. If it takes more than 192 MB to encode, some
 * 13 megapixels with the model `photo`, its pixels are never in memory as a whole: its codes wait
 * in the spool, 6 bytes a pixel, and strips of it are encoded one after the other.
 * taper_encoder_add does the same with the caller's pixels, which it then does not copy. Not with
 * another allocation than even, or groups of several images. The bytes are the same.
 * An error of `read`, while a large image is read, is final. */
TAPER_API taper_status taper_encoder_add_rows(taper_encoder *encoder,
                                              const taper_row_source *source, const char *name,
                                              int32_t label, taper_error *error);
/* Store the names of the classes, in the order of labels. Copied. Call at most once, before
 * taper_encoder_finish. */
TAPER_API taper_status taper_encoder_set_classes(taper_encoder *encoder, const char *const *names,
                                                 size_t n, taper_error *error);

/* Say that the container is a part of a set. Copied. Call it after the last image, as left_out is
 * known then. taper_truncate and all that makes other containers of it drop this. TAPER_ERR_ARG: a
 * number is out of range; taper_encoder_finish also returns it, if the images that are stored, with
 * further names, and those that were left out are not as many as the part has. */
TAPER_API taper_status taper_encoder_set_part(taper_encoder *encoder, const taper_part *part,
                                              taper_error *error);

/* Codes of bits of all images, for search, made by a second model. They are stored in the front
 * matter, so every cut has them. `taper index` makes an index from them. Images of all sizes have
 * such codes. Readers that do not know them skip them. truncate, repack and merge keep them. */
typedef struct taper_search_codes {
    size_t size; /* sizeof(taper_search_codes), set by the caller */
    /* taper_model_info.id of the binary model that made the codes. */
    uint64_t model_id;
    /* Length of a code in bits, 1..65536. */
    uint32_t bits;
    /* Number of codes: the number of images in the container. */
    size_t n;
    /* [n][(bits + 63) / 64], as taper_index_pack makes them. */
    const uint64_t *codes;
    /* The contents of that model's .tpm file. The container carries it, so that new images can be
     * searched for without the file. NULL: the container does not carry it. */
    const void *model_bytes;
    size_t model_size;
} taper_search_codes;
/* Store search codes. Copied. Call at most once, after the last taper_encoder_add.
 * TAPER_ERR_ARG: a number is out of range; n differs from the number of added images; model_bytes
 * is a model with another id, is not binary, or has fewer units than bits. Also the errors of
 * taper_model_load. */
TAPER_API taper_status taper_encoder_set_search_codes(taper_encoder *encoder,
                                                      const taper_search_codes *codes,
                                                      taper_error *error);
/* Encode the last group and write the container. At least one image must have been added.
 * Afterwards, also after a failure, only taper_encoder_quality, taper_encoder_is_short and
 * taper_encoder_free are legal.
 *
 * max_bytes: upper limit of the container; 0: none. The result is what taper_truncate would make of
 * the container without that limit. A set of one group takes less time then, as passes that are not
 * kept are not encoded; for that its last chunk may be some bytes longer or shorter, as the size of
 * the front matter is estimated otherwise. TAPER_ERR_LIMIT: max_bytes is less than the front
 * matter.
 *
 * A set of one group and at most 4,096 pixels gets a last step, which takes some tenths of a
 * second. It renders the set at each cut and compares it with the originals. The data then end
 * where the mean PSNR is highest. If a longer cut looks worse than a shorter one, the container
 * marks it, and decoders render the shorter one. No cut loses more than 0.3 dB by
 * that. taper_repack and taper_merge have no such step. */
TAPER_API taper_status taper_encoder_finish(taper_encoder *encoder, uint64_t max_bytes,
                                            const taper_sink *sink, taper_error *error);
/* The same, into a file, which appears whole or not at all: after a failure, what was there before
 * is unchanged. An existing file is replaced. TAPER_ERR_IO: the file cannot be written. */
TAPER_API taper_status taper_encoder_finish_file(taper_encoder *encoder, uint64_t max_bytes,
                                                 const char *path, taper_error *error);
/* Nonzero: the container is smaller than the max_bytes of taper_encoder_finish, because
 * options.target_bytes_per_megapixel ended the encoding. Without that option the images can be
 * better. 0 also before taper_encoder_finish and for NULL. */
TAPER_API int taper_encoder_is_short(const taper_encoder *encoder);
/* An image with a lower PSNR at full length counts as poor (taper_encode_quality.poor). */
#define TAPER_POOR_PSNR_DB 45.0

typedef struct taper_encode_quality {
    size_t size; /* sizeof(taper_encode_quality), set by the caller */
    /* The lowest PSNR of all images at the container's full length, or at their aims, before a
     * target or a limit shortens it. 100: lossless. */
    double least_psnr_db;
    /* The image with that PSNR; the first of several. */
    uint64_t least_image;
    /* Its name in the container, or NULL. Valid until the encoder is freed. */
    const char *least_name;
    /* Number of images below TAPER_POOR_PSNR_DB, without those that end at an aim. */
    uint64_t poor;
    /* The mean PSNR of the images that were measured: neither drawings, nor coded strip by strip.
     * 0: none was. */
    double mean_psnr_db;
    /* Number of drawings, which are exact (taper_encode_options.drawings); all images with
     * taper_encode_options.lossless, of which none is measured. */
    uint64_t exact;
} taper_encode_quality;
/* Get the quality of the encoded images. Requires options.measure; call it after
 * taper_encoder_finish.
 *
 * Images are rendered by the linear part of the model and compared on the 8-bit scale. The result
 * is within 0.5 dB of what a decoder gives, except where almost nothing is lost: for images of a
 * few pixels, and for 16-bit images, whose finer differences do not count.
 * TAPER_ERR_ARG: nothing was measured. */
TAPER_API taper_status taper_encoder_quality(const taper_encoder *encoder,
                                             taper_encode_quality *out, taper_error *error);

typedef struct taper_aim_report {
    size_t size; /* sizeof(taper_aim_report), set by the caller */
    /* Number of images below their aims: the container is too short, or the model cannot reach
     * them. */
    uint64_t below;
    /* With options.beyond_aims: number of images that have more passes than those that have the
     * fewest, and about how many bytes these passes take: the price of the aims. */
    uint64_t ahead, ahead_bytes;
    /* The shortest cut of the container, in whole layers, in which every image has its aim or all
     * its passes. 0: there is none. */
    uint64_t cut;
} taper_aim_report;
/* Get how far the aims were reached, by the estimates of taper_encoder_set_aim. Call it after
 * taper_encoder_finish. TAPER_ERR_ARG: there were no aims, or no memory for the report. */
TAPER_API taper_status taper_encoder_aims(const taper_encoder *encoder, taper_aim_report *out,
                                          taper_error *error);
/* Free the encoder, whether it is finished or not. NULL is allowed. */
TAPER_API void taper_encoder_free(taper_encoder *encoder);

/* --- one image of a file --------------------------------------------------------------- */

/* Decode image i, from 0, of the container in a file, complete or cut:
 *
 *     taper_image image;
 *     taper_error error;
 *     if (taper_decode_file("set.taper", 0, &image, &error)) puts(error.text);
 *     ... image.width, image.height, image.pixels ...
 *     taper_image_free(&image);
 *
 * The model is the one that the container carries, or built in. The pixels are allocated and the
 * caller's: free them with taper_image_free. On failure they are NULL. For several images open the
 * file once: taper_container_open_file, which has the same errors, and taper_decoder_new.
 * TAPER_ERR_CORRUPT with pixels: data of the image are damaged, as for taper_decoder_render. */
TAPER_API taper_status taper_decode_file(const char *path, uint64_t i, taper_image *out,
                                         taper_error *error);
/* Free the pixels and zero the struct. NULL is allowed. */
TAPER_API void taper_image_free(taper_image *image);

/* --- containers ------------------------------------------------------------------------ */

typedef struct taper_container taper_container;

/* Beside the size, 0 is the default of every member. */
typedef struct taper_open_options {
    /* Set it to sizeof(taper_open_options). */
    size_t size;
    /* NULL: the model that the container carries, or the built-in one that it was made with. The
     * model must outlive the container. */
    const taper_model *model;
    /* NULL: the defaults. Copied. */
    const taper_limits *limits;
    /* Nonzero: open without a model. The functions taper_container_* need none; columns and rows of
     * images are 0 then. For decoders call taper_container_bind. */
    int without_model;
} taper_open_options;

/* Open a container at a random-access source: read its front matter, and find and check its model.
 * A source that is shorter than the container is a cut file. options: NULL means the defaults.
 *
 * An open container does not change: any number of threads may use it, each with decoders of its
 * own. source->read must be callable, by several threads at once, until it is closed.
 *
 * TAPER_ERR_TRUNCATED: the front matter is incomplete ("incomplete header, need N more bytes").
 * TAPER_ERR_MODEL: no model was given, and it carries none and was not made with a built-in one; or
 * another model was given. TAPER_ERR_CORRUPT: the container is damaged; or a model that it carries
 * is damaged or has another id, even if that model is not needed. All functions that read a
 * container reject it then. TAPER_ERR_VERSION, _LIMIT: for a carried model, only if that model is
 * needed. */
TAPER_API taper_status taper_container_open(taper_container **out, const taper_source *source,
                                            const taper_open_options *options, taper_error *error);
/* The same of a file, which stays open until the container is closed. TAPER_ERR_IO also: it cannot
 * be opened or read. If another program shortens it meanwhile, rendering returns
 * TAPER_ERR_TRUNCATED. */
TAPER_API taper_status taper_container_open_file(taper_container **out, const char *path,
                                                 const taper_open_options *options,
                                                 taper_error *error);
/* The same of bytes in memory, which are the caller's and must not change until it is closed. */
TAPER_API taper_status taper_container_open_memory(taper_container **out, const void *bytes,
                                                   size_t size, const taper_open_options *options,
                                                   taper_error *error);
/* Find and check the model of a container that was opened without one, as taper_container_open
 * does: the given one, or with NULL its own. Before several threads use the container. On failure
 * nothing has changed. TAPER_ERR_ARG: it has a model. */
TAPER_API taper_status taper_container_bind(taper_container *container, const taper_model *model,
                                            taper_error *error);
/* Close it after its decoders. NULL is allowed. */
TAPER_API void taper_container_close(taper_container *container);

typedef struct taper_container_info {
    /* Set it to sizeof(taper_container_info). */
    size_t size;
    uint64_t model_id;
    /* Size of the .tpm file of the model that it carries; 0: it carries none. */
    uint64_t model_bytes;
    taper_layout layout;
    /* pixels: over all images. */
    uint64_t images, pixels;
    uint32_t groups, layers;
    /* Kinds of groups by how bytes are shared among images (taper_allocation), from 1. */
    uint32_t rate_classes;
    /* Passes in the complete file. */
    uint32_t passes;
    /* Header, directory, names, labels and embedded models: all bytes before the image data. */
    uint64_t front_bytes;
    /* Size of the complete file; a cut file is shorter. */
    uint64_t file_bytes;
    /* Nonzero: taper_truncate or a limit of taper_encoder_finish cut chunks of it. */
    int was_truncated;
    int has_names, has_labels;
    /* Number of class names; 0 without labels. */
    uint32_t classes;
    /* Length of each image's search code; 0: there are none. */
    uint32_t search_bits;
    /* The model that made the search codes. */
    uint64_t search_model_id;
    /* Size of its .tpm file, if the container carries it (taper_container_search_model); else 0. */
    uint64_t search_model_bytes;
    /* Memory of the front matter. */
    uint64_t memory;
    /* Bytes of the front matter that hold metadata (taper_metadata_open); 0: there are none. */
    uint64_t metadata_bytes;
    /* Names of files that were equal to an image (taper_encoder_add_name). Numbers from `images` to
     * images + further_names - 1 are these, where a function takes "an image or a further name";
     * decoders render its image. 0 also of a paged container that is supplied by ranges. */
    uint64_t further_names;
} taper_container_info;

typedef struct taper_image_info {
    /* Set it to sizeof(taper_image_info). */
    size_t size;
    uint32_t width, height;
    uint8_t channels; /* 1, 3, or with alpha 2, 4 */
    uint8_t depth;    /* 8 or 16 */
    /* Size of the pixels that taper_decoder_render writes. */
    uint64_t bytes;
    uint32_t group;
    /* -1: none. */
    int32_t label;
    /* NULL: none. Valid until the container is closed. */
    const char *name;
    /* The grid of model windows that covers the image. Each window has its own code. 0: the image
     * is indexed. */
    uint32_t columns, rows;
    /* Nonzero: the image is stored by its colours, exactly; it has no codes. */
    int is_indexed;
    /* The number of the image: another than was asked for if that is a further name. */
    uint64_t same_as;
    /* Nonzero: the container has what makes the image equal to its original, pixel for pixel
     * (taper_encode_options.lossless), and that was not truncated. */
    int is_exact;
} taper_image_info;

/* Properties of the container, and of i, an image or a further name, from 0: the latter has a name
 * and label of its own. TAPER_ERR_ARG: there is no such image.
 * TAPER_ERR_TRUNCATED: of a streaming decoder, its leaf was not supplied (taper_decoder_plan). */
TAPER_API taper_status taper_container_get_info(const taper_container *container,
                                                taper_container_info *out, taper_error *error);
TAPER_API taper_status taper_container_get_image(const taper_container *container, uint64_t i,
                                                 taper_image_info *out, taper_error *error);
/* The part of a set that the container says it is. *out is 0 but for its size if it says nothing,
 * or if what it says was not read: paged containers that are supplied by ranges. */
TAPER_API taper_status taper_container_get_part(const taper_container *container, taper_part *out,
                                                taper_error *error);
/* The model that decodes it; NULL if it was opened without. The container owns it, or the caller
 * who gave it. That of a streaming decoder is valid until its next bytes come, which may bring a
 * stage of the model: another model then takes its place. */
TAPER_API const taper_model *taper_container_model(const taper_container *container);
/* Name of class k, 0..classes - 1; NULL if k is out of range. Valid until the container is closed.
 */
TAPER_API const char *taper_container_class_name(const taper_container *container, uint32_t k);
/* The first place and the number of images of group g, for reading group by group. Place p holds
 * image taper_container_image_at(p). That is p itself, unless the set has several rate classes. */
TAPER_API taper_status taper_container_group(const taper_container *container, uint32_t g,
                                             uint64_t *first, uint64_t *count, taper_error *error);
TAPER_API uint64_t taper_container_image_at(const taper_container *container, uint64_t place);

/* In place of an image's number, where the text allows it: all images. */
#define TAPER_ALL_IMAGES UINT64_MAX

/* The end of a layer, 0..taper_container_info.layers - 1: the first *cut bytes of the file contain
 * the layers up to it of all images, and these contain *passes passes of image i; with
 * TAPER_ALL_IMAGES, the most passes of an image. For taper_decode_options, taper_decoder_plan and
 * taper_decoder_codes. TAPER_ERR_ARG: there is no such image or layer. */
TAPER_API taper_status taper_container_layer(const taper_container *container, uint64_t i,
                                             uint32_t layer, uint64_t *cut, uint32_t *passes,
                                             taper_error *error);
/* The number, from 1, of the stage of the model that a layer has instead of passes: see
 * taper_encode_options.embed_model. 0: it has none, or there is no such layer. */
TAPER_API uint32_t taper_container_layer_stage(const taper_container *container, uint32_t layer);
/* How many bytes of image data, of the group of i, an image or a further name, the first `cut`
 * bytes of the file contain; and how many the complete file contains. */
TAPER_API taper_status taper_container_image_bytes(const taper_container *container, uint64_t i,
                                                   uint64_t cut, uint64_t *here, uint64_t *all,
                                                   taper_error *error);

/* Get the search code of image i: code[(search_bits + 63) / 64], see taper_container_info.
 * TAPER_ERR_ARG: there is no such image, or the container has no search codes. */
TAPER_API taper_status taper_container_search_code(const taper_container *container, uint64_t i,
                                                   uint64_t *code, taper_error *error);
/* Load the model of the search codes from the container. The caller owns *out; it is NULL on
 * failure. TAPER_ERR_ARG: the container does not carry the model. TAPER_ERR_CORRUPT: the model has
 * another id, is not binary or has too few units. Also the errors of taper_model_load. */
TAPER_API taper_status taper_container_search_model(const taper_container *container,
                                                    taper_model **out, taper_error *error);

/* --- metadata of images ----------------------------------------------------------------- */

typedef struct taper_metadata_reader taper_metadata_reader;

/* How many images have each member of taper_metadata; and the different payloads (colour profiles,
 * EXIF, XMP), with their size when they are not packed. */
typedef struct taper_metadata_info {
    size_t size; /* sizeof(taper_metadata_info), set by the caller */
    uint64_t icc, exif, xmp, cicp, gamma, chromaticities, density, modified;
    uint64_t payloads, payload_bytes;
} taper_metadata_info;

/* Open the metadata of a container, which must outlive the reader. Opening a container leaves them
 * packed: they take memory when a reader is open, within the limits of the container, and images
 * can be decoded without. A container without metadata has a reader, too. One thread at a time may
 * use a reader.
 * TAPER_ERR_CORRUPT: the metadata are damaged. TAPER_ERR_ARG: the container is paged, and of a
 * decoder that is supplied by ranges (taper_decoder_plan). TAPER_ERR_LIMIT. */
TAPER_API taper_status taper_metadata_open(taper_metadata_reader **out,
                                           const taper_container *container, taper_error *error);
/* The metadata of i, an image or a further name, from 0. Pointers in *out are valid until the next
 * call. Ascending i is fastest. Payloads are not trusted: they are what the encoder was given.
 * TAPER_ERR_CORRUPT: they are damaged. TAPER_ERR_LIMIT. */
TAPER_API taper_status taper_metadata_get(taper_metadata_reader *reader, uint64_t i,
                                          taper_metadata *out, taper_error *error);
TAPER_API taper_status taper_metadata_get_info(const taper_metadata_reader *reader,
                                               taper_metadata_info *out, taper_error *error);
/* NULL is allowed. */
TAPER_API void taper_metadata_close(taper_metadata_reader *reader);

/* --- decoding: from a container, or bytes in file order, or ranges in any order --------- */

typedef struct taper_decoder taper_decoder;

/* How complete a rendered image is. */
typedef struct taper_completeness {
    /* Complete passes that these pixels contain. */
    uint32_t passes;
    /* Passes in the complete file. */
    uint32_t passes_in_file;
    /* Bytes of image data that were used, of this image's group. */
    uint64_t bytes;
    /* Nonzero: no further byte of the file changes this image; also if its data are damaged, unless
     * they may be supplied again, and with taper_decode_options.passes. */
    int complete;
    /* Rows from the top that equal the original's, by the container's exact layer
     * (taper_encode_options.lossless). 0 also if the image is rendered scaled. */
    uint32_t exact_rows;
    /* Stages of the model that these pixels were made with (taper_model_info.stages_known). */
    uint32_t stages;
    /* For later versions: 0. */
    uint32_t reserved[3];
} taper_completeness;

/* Beside the size, 0 is the default of every member. */
typedef struct taper_decode_options {
    /* Set it to sizeof(taper_decode_options). */
    size_t size;
    /* Decode as if the file had been cut to so many bytes; 0: as it is. Of a model that the
     * container carries in stages, those before the cut are used: then the decoder has a model of
     * its own. */
    uint64_t cut;
    /* Bytes of memory of the decoder, with the front matter of its container; 0, or more than
     * max_memory of the container's limits: that. */
    uint64_t max_memory;
    /* Render at most so many passes of each image; 0: all. For previews: decoding takes less time,
     * also where a cut does not shorten an image (TAPER_LAYOUT_IMAGE). taper_container_layer has
     * the numbers of layers. */
    uint32_t passes;
} taper_decode_options;

/* Create a decoder for an open container, which must outlive it. options: NULL means the defaults.
 * Creating one reads nothing: make one for each thread, and one for each cut. The decoder keeps the
 * state of one group at a time, or of one group per rate class (taper_allocation).
 * TAPER_ERR_MODEL: the container was opened without its model. TAPER_ERR_TRUNCATED: the cut is
 * within the front matter. TAPER_ERR_LIMIT: max_memory is less than the front matter has. */
TAPER_API taper_status taper_decoder_new(taper_decoder **out, const taper_container *container,
                                         const taper_decode_options *options, taper_error *error);

/* Create a decoder that gets bytes in file order (taper_decoder_push) or by ranges
 * (taper_decoder_supply). The first call decides which. options: as for taper_container_open;
 * without_model must be 0.
 *
 * Memory: with taper_decoder_push, the state of every group, so that further bytes refine it
 * without decoding again, and the bytes of incomplete groups. With taper_decoder_supply, all bytes
 * that were supplied, and the states of the groups that were used last, as far as 256 MiB and a
 * quarter of max_memory allow: further bytes continue these. States are packed, except that of the
 * group that was used last, and of those before it as far as they take 8 MiB. */
TAPER_API taper_status taper_decoder_new_streaming(taper_decoder **out,
                                                   const taper_open_options *options,
                                                   taper_error *error);
/* The container of a decoder, for the functions taper_container_*. NULL: of a streaming decoder,
 * the front matter is incomplete (taper_decoder_bytes_needed). That of a streaming decoder is valid
 * until the decoder is freed, makes no other decoders, and is used by the same thread. */
TAPER_API const taper_container *taper_decoder_container(const taper_decoder *decoder);

/* Append the next n bytes of the file. Returns TAPER_OK even if nothing can be rendered yet.
 *
 * A wrong checksum is no error here: taper_decoder_render reports it for each affected image.
 * Pixels may use a chunk before its checksum is known; they lose that chunk if the checksum fails.
 * After any other error the decoder only repeats that error, but images that were decoded before
 * can be rendered, unless memory was lacking (TAPER_ERR_LIMIT, _NOMEM) when a stage of the model
 * came: all images are then decoded again. TAPER_ERR_CORRUPT also: bytes follow the end of the
 * container. */
TAPER_API taper_status taper_decoder_push(taper_decoder *decoder, const void *bytes, size_t n,
                                          taper_error *error);

/* Decoding by ranges: the decoder names the bytes of the file that an image needs. The caller
 * supplies them, or any others, in any order. With this, a program reads one image of a large file
 * over HTTP or from a database, without a callback that blocks:
 *
 *     taper_range range;
 *     size_t wanted;
 *     while (!(status = taper_decoder_plan(d, i, cut, &range, 1, &wanted, &error)) && wanted) {
 *         ... fetch range.size bytes from range.offset of the file into bytes ...
 *         if ((status = taper_decoder_supply(d, range.offset, bytes, range.size, &error))) break;
 *     }
 *     if (!status) status = taper_decoder_render(d, i, &image, NULL, &error); */
typedef struct taper_range {
    uint64_t offset, size; /* bytes of the file, size 1.. */
} taper_range;

/* List the ranges that are still missing to render image i, or to read its codes, from a file cut
 * to `cut` bytes. cut UINT64_MAX: the complete file. ranges: the caller's array [capacity]; NULL if
 * capacity is 0. Ranges ascend and do not touch each other. *count: the number of missing ranges,
 * of which the first `capacity` are written. 0: nothing is missing.
 *
 * While the front matter is incomplete, only its bytes are listed, for any i and cut: first the
 * header, then the table that gives the size of the rest. If requests are expensive, supply the
 * first kilobytes of the file before the first plan. Then the chunks of the image's group are
 * listed, up to the cut.
 *
 * A container of more than 1,024 images has its front matter in a root and leaves, of about 1,024
 * images each, where its groups allow: a leaf has whole groups, and in rate classes takes 16,384
 * images or more. Then the root is listed, the leaf of image i, and its chunks, one by one.
 * The first 20,000 bytes of the file mostly have the root, unless it carries a model.
 * Before its leaf was supplied, functions that ask for an image or a group return
 * TAPER_ERR_TRUNCATED. Leaves stay in memory until the decoder is freed. Codes and models for
 * search are not read by ranges from such a container.
 *
 * The call also sets the cut for all images: later bytes are ignored even if they were supplied.
 * When nothing is missing, pixels equal those of taper_decoder_new with the same cut, but for
 * stages of the model behind it. Stages are listed with the chunks that follow them.
 * Before the first call the cut is UINT64_MAX. The beginning of a range is enough for an image of
 * lower quality. With TAPER_LAYOUT_IMAGE, where the chunks of an image are one range, this reduces
 * one image, and so does the last range with TAPER_LAYOUT_GALLERY.
 *
 * TAPER_ERR_CORRUPT: supplied bytes have a wrong checksum, or are of a damaged leaf. `ranges` is
 * valid and contains them: supply them again from another copy, or render without them. (Images of
 * a damaged leaf cannot be rendered; those of other leaves can.) Where a group is an image, several
 * small images, of about 4 KB together, share a checksum. It is checked once all of its bytes were
 * supplied, but those of other images are not listed. TAPER_ERR_ARG: there is no image i, or the
 * decoder has a source or uses taper_decoder_push. For errors in the front matter, as
 * taper_container_open, with *count 0. TAPER_ERR_LIMIT is returned before the bytes of too large a
 * front matter are listed. */
TAPER_API taper_status taper_decoder_plan(taper_decoder *decoder, uint64_t i, uint64_t cut,
                                          taper_range *ranges, size_t capacity, size_t *count,
                                          taper_error *error);
/* The same for the image of a name, byte for byte as the container has it (taper_image_info.name):
 * the first of several. *i: its number once that is known, else UINT64_MAX; then its chunks are
 * listed. Before, a container of many images wants the part of its front matter that finds names.
 * TAPER_ERR_ARG also: no image has this name. */
TAPER_API taper_status taper_decoder_plan_name(taper_decoder *decoder, const char *name,
                                               uint64_t cut, taper_range *ranges, size_t capacity,
                                               size_t *count, uint64_t *i, taper_error *error);
/* Beside the size, 0 is the default of every member. */
typedef struct taper_plan_options {
    size_t size; /* sizeof(taper_plan_options) */
    /* [n] numbers of images, in any order; NULL with n 0: all images. */
    const uint64_t *image;
    size_t n;
    /* As in taper_decoder_plan; 0: the complete file. */
    uint64_t cut;
    /* At most so many bytes of image data are listed, with those in joined gaps; 0: no limit. */
    uint64_t max_bytes;
    /* Ranges with at most so many bytes between them are joined: about as many as the line carries
     * during the latency of a request. 0: ranges that touch each other. */
    uint64_t max_gap;
    /* Only layers that have one of the first so many passes of an image; 0: all. For previews. */
    uint32_t passes;
} taper_plan_options;

/* List the ranges that are still missing for many images. The rest as for taper_decoder_plan: the
 * front matter first, for any images, without regard to max_bytes; then the leaves of the images;
 * then their chunks. Without max_bytes and max_gap, the ranges are the union of those of the
 * images. With joined gaps, some bytes may be listed that are not wanted or were supplied.
 *
 * With max_bytes, the most valuable bytes come first, so that all images improve alike: layer after
 * layer. Of the first layer that does not fit, the same part of every image's chunk is listed, or
 * the chunks of the first images where such parts would be shorter than max_gap. So one call after
 * the other, each with its bytes supplied, refines all images to the end. With TAPER_LAYOUT_SET and
 * TAPER_LAYOUT_GALLERY the first layers of all images are one range.
 *
 * *count 0: nothing is missing. Takes time for all wanted images, about 30 times with max_bytes.
 * TAPER_ERR_CORRUPT: damaged bytes are among the ranges, unless max_bytes is less. Other errors are
 * those of taper_decoder_plan; TAPER_ERR_ARG also: an image does not exist; then *count is 0.
 * TAPER_ERR_LIMIT, _NOMEM: no memory for a list of 4 bytes an image. */
TAPER_API taper_status taper_decoder_plan_images(taper_decoder *decoder,
                                                 const taper_plan_options *options,
                                                 taper_range *ranges, size_t capacity,
                                                 size_t *count, taper_error *error);
/* Supply `size` bytes of the file from `offset` on, whether they were listed or not. They are
 * copied and kept until the decoder is freed. New bytes continue the decoding of an image where it
 * was. Bytes may be supplied again; if they differ, the new ones replace the old ones, and affected
 * images are decoded again.
 *
 * No error is final: supply other bytes, or the same again.
 * TAPER_ERR_CORRUPT, _VERSION, _MODEL, _LIMIT, _NOMEM for the front matter, as of
 * taper_container_open, once it is complete: the bytes are kept, and it is parsed again when
 * some of them change. TAPER_ERR_CORRUPT also: bytes lie after the end of the container. If the
 * front matter is known, such a range is not kept. TAPER_ERR_LIMIT, _NOMEM also: no memory for
 * these bytes; nothing has changed. TAPER_ERR_ARG: offset + size is above 2^64 - 1, or the
 * decoder has a source or uses taper_decoder_push. taper_decoder_plan and taper_decoder_render
 * report damaged image data. */
TAPER_API taper_status taper_decoder_supply(taper_decoder *decoder, uint64_t offset,
                                            const void *bytes, size_t size, taper_error *error);

/* NULL is allowed. */
TAPER_API void taper_decoder_free(taper_decoder *decoder);

/* Set the number of threads that decode one image, with the calling thread; initially 1. 0: one
 * per processor. Use it for the latency of a large image; for many images, one decoder per thread
 * is faster. The pixels are the same for every number. If the system refuses threads, fewer are
 * used. May be called at any time. TAPER_ERR_NOMEM: the decoder continues with one thread. */
TAPER_API taper_status taper_decoder_set_threads(taper_decoder *decoder, unsigned threads,
                                                 taper_error *error);

/* Decode images only as far as they are seen at 1 / scale of their size, or smaller: 2, 4, 8 or 16;
 * 1: whole, as initially. Passes are left out that hardly show at that size: bits of fine detail,
 * and the lowest ones. Their number depends on the model and the scale alone, so pixels are the
 * same on every machine, and however bytes come. Of the 10,645 passes of the model `photo` 5,364
 * stay at 1/2, 3,507 at 1/4, 2,044 at 1/8 and 963 at 1/16. The PSNR of small photographs against
 * all passes is some 42 dB, of grainy ones 40.5 dB, that of drawings and text mostly, too; noise
 * may have 35 dB.
 *
 * It holds for all functions that decode, as taper_decode_options.passes does, of which the smaller
 * number counts, and for those that plan: they list no layers that are left out. Of codes
 * (taper_decoder_codes) it holds with taper_decoder_push alone. A rendering of full size has these
 * passes only. taper_completeness.complete is nonzero once these passes are there. All passes stay
 * with models without a small basis (taper_decoder_render_scaled), and with models of which stages
 * are missing, or come between the layers.
 *
 * May be called at any time; groups that are in memory are decoded again if the number changes.
 * TAPER_ERR_ARG: another scale; or the front matter was pushed already. TAPER_ERR_LIMIT, _NOMEM:
 * nothing has changed. */
TAPER_API taper_status taper_decoder_set_scale(taper_decoder *decoder, uint32_t scale,
                                               taper_error *error);

/* The number of bytes that the front matter still needs, as far as it is known. If the front matter
 * is damaged and may be supplied again, its whole size. 0: it is complete, and images can be
 * rendered, if taper_decoder_container is not NULL; else an error of taper_decoder_push is final.
 * Leaves do not count (taper_decoder_plan). */
TAPER_API uint64_t taper_decoder_bytes_needed(const taper_decoder *decoder);
/* Render image i from the bytes received so far. out->pixels: the caller's memory of
 * taper_image_info.bytes bytes. The call sets width, height, channels and depth. done may be NULL.
 * Within a group, ascending i is fastest; any order is legal.
 *
 * TAPER_ERR_CORRUPT: a chunk has a wrong checksum. The pixels, and *done, are valid and use the
 * data before that chunk. With TAPER_LAYOUT_IMAGE there are none, as a chunk is an image: a viewer
 * keeps what it showed before. Other groups are not affected. After any other error the pixels and
 * *done are undefined. */
TAPER_API taper_status taper_decoder_render(taper_decoder *decoder, uint64_t i, taper_image *out,
                                            taper_completeness *done, taper_error *error);

/* Decode what was received of image i, without pixels: *done is what taper_decoder_render would
 * tell now, but with exact_rows 0. If passes, bytes, stages and the returned status are those of
 * the last rendering, and no bytes were replaced since, the pixels are the same: a viewer that
 * refreshes many images renders only those that changed. A rendering afterwards does not decode
 * again. Errors are those of taper_decoder_render. TAPER_ERR_UNSUPPORTED: the image is so large
 * that it is decoded strip by strip (taper_decoder_render_rows), and nothing of it is kept. */
TAPER_API taper_status taper_decoder_decode(taper_decoder *decoder, uint64_t i,
                                            taper_completeness *done, taper_error *error);

/* Render image i at 1 / scale of its size, for previews: with models of families pca and conv, with
 * less memory and time than the whole image. scale: 2, 4, 8 or 16; 1 is the same as
 * taper_decoder_render.
 *
 * The result has (width - 1) / scale + 1 columns and (height - 1) / scale + 1 rows, rounded down:
 * as those of libjpeg. Channels and depth are those of the image. Each pixel is the mean of scale *
 * scale pixels that the whole image would have, but without the restoration of models of family
 * conv. Pixels beyond the right and lower edge, as far as the last windows reach, count as well;
 * they mostly repeat the edge. If no window reaches as far, the mean is of fewer pixels.
 *
 * With linear models (families pca and conv) whose windows have sides that are multiples of scale,
 * means are computed from the codes at once, before levels are limited to black and white. They
 * lack what hardly shows at this size. On photographs the PSNR against exact means is about 54 dB.
 * Every machine makes the same pixels. With other models the image is rendered whole, then
 * averaged.
 *
 * The codes are read as for the whole image, and all of them are used. Of a complete file that is
 * nearly all of the work: call taper_decoder_set_scale before. out->pixels: the caller's memory for
 * that size. The rest, and the errors, are as for taper_decoder_render. TAPER_ERR_ARG also: another
 * scale. Alternating between scales takes more time. */
TAPER_API taper_status taper_decoder_render_scaled(taper_decoder *decoder, uint64_t i,
                                                   uint32_t scale, taper_image *out,
                                                   taper_completeness *done, taper_error *error);

/* A rectangle of an image, in pixels. */
typedef struct taper_crop {
    uint32_t x, y;          /* its upper left pixel, from 0 */
    uint32_t width, height; /* from 1 */
} taper_crop;

/* Takes the rows of an image from top to bottom. rows: the next rows->height rows, of which the
 * first is row `first`; borrowed during the call, in which no other function may be called with the
 * decoder. An error ends the rendering, which returns it. */
typedef struct taper_row_sink {
    void *user;
    taper_status (*write)(void *user, uint32_t first, const taper_image *rows);
} taper_row_sink;

/* Render image i, or a rectangle of it, row by row, so that not even its pixels are in memory as a
 * whole. crop: within the image; NULL: all of it. scale: as for taper_decoder_render_scaled; the
 * crop is in pixels of the image of full size, and the result has those pixels of the small version
 * that it touches. The pixels are those of the whole image; *done is that of the whole image, too.
 *
 * An image whose group takes more than 192 MB to decode, some 13 megapixels with the model `photo`,
 * or more than half of max_memory, is decoded strip by strip. A few strips are in memory at a time,
 * with the compressed data, and the decoder keeps nothing for later calls. So a crop takes memory
 * for its width, and time for the strips that it touches: an image of 12000 x 9000 has 33 strips of
 * 273 rows. But all data of the image are read, as strips are interleaved. If the file is cut, all
 * strips are decoded once more, as the restoration depends on where the first of them ends; a
 * decoder with a source does so once for further rectangles of the image. Smaller images have
 * strips, too. Rectangles take single ones until the decoder has decoded as many as the image has.
 * Then the group is decoded as a whole, and kept; at once if the file is cut, with
 * taper_decoder_push, or a scale above 1.
 *
 * Errors are those of taper_decoder_render. After TAPER_ERR_CORRUPT all rows were written.
 * TAPER_ERR_ARG also: the crop is empty or not within the image. */
TAPER_API taper_status taper_decoder_render_rows(taper_decoder *decoder, uint64_t i, uint32_t scale,
                                                 const taper_crop *crop, const taper_row_sink *to,
                                                 taper_completeness *done, taper_error *error);
/* The same into memory. out->pixels: the caller's, for ((x + width - 1) / scale - x / scale + 1)
 * columns and as many rows, likewise. The call sets width, height, channels and depth. */
TAPER_API taper_status taper_decoder_render_crop(taper_decoder *decoder, uint64_t i, uint32_t scale,
                                                 const taper_crop *crop, taper_image *out,
                                                 taper_completeness *done, taper_error *error);

/* Crops of many images in one array, for training loops. */
typedef enum taper_sample { TAPER_SAMPLE_UINT8 = 0, TAPER_SAMPLE_FLOAT32 = 1 } taper_sample;

typedef struct taper_batch_item {
    uint64_t image;
    /* The upper left pixel of the crop. Pixels outside the image repeat its edge. */
    int32_t x, y;
} taper_batch_item;

typedef struct taper_batch {
    /* Set it to sizeof(taper_batch). */
    size_t size;
    const taper_batch_item *item; /* [n] in any order */
    size_t n;
    /* Size of every crop in pixels, from 1. */
    uint32_t width, height;
    /* The images are taken at 1 / scale of their size: 1, 2, 4, 8 or 16; 0: 1. */
    uint32_t scale;
    /* 1 or 3. Grey images fill all channels; images in colour need 3. */
    uint32_t channels;
    taper_sample sample;
    /* The array, and the distance in bytes from an image, a channel, a row and a column to the
     * next. Channels last (NHWC) of bytes: channel_stride 1, column_stride channels. Channels first
     * (NCHW) of floats: column_stride 4, channel_stride 4 * width * height. Strides of floats are
     * multiples of 4. */
    void *to;
    size_t image_stride, channel_stride, row_stride, column_stride;
    /* For TAPER_SAMPLE_FLOAT32: [channels]; a value is sample * gain + offset, with samples from 0
     * to 1. NULL: 1 and 0. Others are bytes, 0..255. */
    const float *gain, *offset;
    /* [n] set to the status of each item; NULL: not wanted. */
    taper_status *status;
} taper_batch;

/* Render the crops of a batch. Images of a group are decoded together, so a batch of few groups is
 * fast, and so is a set of layout TAPER_LAYOUT_IMAGE. The threads of taper_decoder_set_threads
 * share the groups, each with a share of max_memory; if there are fewer groups than threads, or
 * with a streaming decoder, they render each image together.
 *
 * If items fail, the others are rendered, and the error is that of the first that failed. Items
 * with TAPER_ERR_CORRUPT are valid, as in taper_decoder_render. TAPER_ERR_ARG: there is no such
 * image, in which case nothing is rendered; a number is out of range; or an image is in colour
 * for one channel. Also the errors of taper_decoder_render_scaled. */
TAPER_API taper_status taper_decoder_render_batch(taper_decoder *decoder, const taper_batch *batch,
                                                  taper_error *error);

/* Get the codes of image i from the bytes received so far, for search, without the network that
 * renders pixels from them. An image has one code per window: columns * rows codes
 * (taper_image_info), row after row.
 *
 * values: the caller's, [columns * rows][units]: the first `units` units of each code,
 * 1..taper_model_info.units, on the scale of the network's input. A value is the middle of the
 * interval that is known of it. A value of which nothing is known is 0, or a prediction if the
 * model has head_hidden. For a binary model: the bit minus the model's centre, or 0 if unknown. The
 * centre is a constant from 0 to 1.
 *
 * planes: NULL, or an array of the same shape: the number of known bit planes of each value. Each
 * plane halves the interval. 0: nothing is known. For a binary model, 1: the bit is known.
 *
 * passes: decode at most that many passes; UINT32_MAX: all that were received. Fewer passes take
 * less time. taper_container_layer has the number of a layer; pass u of a binary model is unit u.
 * With taper_decoder_push all passes are decoded already, and all are used. done may be NULL; its
 * passes are those that these codes contain.
 *
 * Alternating between few and many passes, or between codes and pixels, decodes the group again:
 * read the codes of all images first. TAPER_ERR_TRUNCATED: the front matter is incomplete.
 * TAPER_ERR_ARG: there is no such image, units is out of range, or values is NULL.
 * TAPER_ERR_CORRUPT: as taper_decoder_render; the codes are valid. TAPER_ERR_LIMIT, _NOMEM: no
 * memory for the group. */
TAPER_API taper_status taper_decoder_codes(taper_decoder *decoder, uint64_t i, uint32_t units,
                                           uint32_t passes, float *values, uint8_t *planes,
                                           taper_completeness *done, taper_error *error);

/* --- containers from containers, without the network ------------------------------------ */

/* Write a smaller complete container of at most max_bytes. With TAPER_LAYOUT_SET it is the prefix
 * that fits. In the other layouts each image's data are shortened alike: in the last layer that
 * fits in part, to the same fraction.
 * TAPER_ERR_LIMIT: max_bytes is less than the front matter. */
TAPER_API taper_status taper_truncate(const taper_source *from, uint64_t max_bytes,
                                      const taper_sink *to, const taper_limits *limits,
                                      taper_error *error);
/* Write the same codes in another layout. model: for its tables; NULL if the container carries the
 * model or was made with a built-in one. group_images: as in taper_encode_options. Of a cut source,
 * only passes that are complete for all images are written. */
TAPER_API taper_status taper_repack(const taper_source *from, const taper_model *model,
                                    taper_layout layout, uint32_t group_images,
                                    const taper_sink *to, const taper_limits *limits,
                                    taper_error *error);
/* Beside the size, 0 is the default of every member. */
typedef struct taper_merge_options {
    /* Set it to sizeof(taper_merge_options). */
    size_t size;
    /* NULL: the defaults. */
    const taper_limits *limits;
    /* Called for each name that changes because an earlier container also has it, before anything
     * is written. before NULL: the image had no name. NULL: not called. */
    void (*renamed)(void *user, const char *before, const char *after);
    void *user;
    /* NULL, or [n]: the same sources as open containers (taper_container_open), so that their front
     * matter is not read again. Each one is closed, and set to NULL, when its front matter was
     * taken; those that are left after a failure are the caller's to close. */
    taper_container **open;
    /* The model of the sources. NULL: one that a source carries, or the built-in one. Borrowed. */
    const taper_model *model;
} taper_merge_options;
/* Join n containers of one model and one layout, in order, without recoding. Every image renders as
 * in its source. (Only hostile files, with strings that no encoder writes, can differ.) The sources
 * may be results of taper_truncate; their layers, names and classes may differ. Classes are joined
 * by name. A name that an earlier source has, too, gets the prefix "shard-2/", and so on.
 * taper_merge_options.model is needed for one thing: complete images of 1,536 windows or more among
 * truncated ones, of a model that no source carries and that is not built in. Without it, they lose
 * some of their last bits.
 * TAPER_ERR_ARG: a source is a cut file. TAPER_ERR_LIMIT: the inputs use more than 16 distinct
 * layer layouts, the number of rate classes of a container; taper_encode_options.for_merge makes
 * containers that use the same ones. TAPER_ERR_MODEL: the sources have different models, or
 * another one than options->model. */
TAPER_API taper_status taper_merge(const taper_source *from, size_t n, const taper_sink *to,
                                   const taper_merge_options *options, taper_error *error);

/* Beside the size, 0 is the default of every member. */
typedef struct taper_remove_options {
    /* Set it to sizeof(taper_remove_options). */
    size_t size;
    /* For groups that lose some of their images. NULL: the model that the container carries, or the
     * built-in one that it was made with. */
    const taper_model *model;
    /* NULL: the defaults. */
    const taper_limits *limits;
    /* As in taper_encode_options, for groups that are coded again. NULL: tmpfile(). */
    FILE *spool;
} taper_remove_options;
/* Write a container without n of its images and further names, given by their numbers, in any
 * order. The others keep their order, names, labels, metadata, codes for search, models and class
 * names. If further names of a removed image stay, the first of these takes its place. Otherwise no
 * byte of the result comes from the data, the metadata or the codes of a removed image; and in no
 * case from its name.
 *
 * Groups that keep all images are copied. Of a group that loses some, the codes of those that stay
 * are coded again, without the network; this takes the time of decoding the group twice, and the
 * model. The images that stay render as before, with one exception: if data of the group were cut
 * (taper_truncate, or an encoder's limit), its last whole bits may be lost, and in large images
 * that are then alone in their group some bits of unknown planes are 0.
 *
 * TAPER_ERR_ARG: there is no such image; no image would stay; or the container is a cut file.
 * TAPER_ERR_MODEL: a group loses some images, and there is no model. TAPER_ERR_CORRUPT: data of a
 * group that keeps images are damaged; other data are not read. */
TAPER_API taper_status taper_remove(const taper_source *from, const uint64_t *image, size_t n,
                                    const taper_sink *to, const taper_remove_options *options,
                                    taper_error *error);

/* An image or a further name, from 0, and its new name. */
typedef struct taper_name {
    uint64_t image;
    const char *name;
} taper_name;
/* Write the container with other names for n of its images; of several for one image the last
 * counts. Only the front matter changes: the data are copied unseen, and the source may be a cut
 * file. If the container has no names, the other images get numbers for names: "000001.png".
 * Names may be equal. TAPER_ERR_ARG: there is no such image, or a name is not legal. */
TAPER_API taper_status taper_rename(const taper_source *from, const taper_name *names, size_t n,
                                    const taper_sink *to, const taper_limits *limits,
                                    taper_error *error);
/* Write the container without metadata of images (taper_metadata_open), the times of further names
 * included. Names and classes stay. As for taper_rename, only the front matter changes. */
TAPER_API taper_status taper_strip(const taper_source *from, const taper_sink *to,
                                   const taper_limits *limits, taper_error *error);

typedef struct taper_verify_report {
    /* Set it to sizeof(taper_verify_report). */
    size_t size;
    /* chunks_whole: the checksum is right; chunks_bad: it is wrong; chunks_cut: the file ends
     * within the chunk; chunks_missing: the file ends before it. */
    uint64_t chunks, chunks_whole, chunks_bad, chunks_cut, chunks_missing;
    /* File offset of the first chunk with a wrong checksum; 0: there is none. */
    uint64_t first_bad_offset;
    /* 0: the file is complete. */
    uint64_t bytes_missing;
    /* Layers that are complete for every group. */
    uint32_t layers_whole;
} taper_verify_report;
/* Check every checksum and, if all are right, load the models that the container carries. No other
 * model is needed. A cut is no error. TAPER_ERR_CORRUPT: a checksum is wrong; the report is valid.
 * Rejects the same models as taper_container_open without a model, and as
 * taper_container_search_model. */
TAPER_API taper_status taper_verify(const taper_source *from, taper_verify_report *report,
                                    const taper_limits *limits, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
