/* taper.h -- the public interface of libtaper, and its manual.
 *
 * A CONTAINER (.taper) holds a set of images so that every prefix of the file that holds its front
 * matter decodes to the whole set, and every further byte makes it better. A MODEL (.tpm) says how
 * images become codes; a container is decoded with the model it was encoded with, which it may
 * carry.
 *
 * Status, error, image, limits and sources of bytes are in formats/taper_types.h, models in
 * codec/taper_model.h, search in codes in codec/taper_search.h, of bits in codec/taper_index.h; the
 * header that is installed holds them all.
 *
 * Whole programs, built by `make check`: samples/example/example.c decodes what is pushed,
 * samples/example/ranges.c one image by ranges of the file, and its codes, samples/example/alike.c
 * the images of an index that are like one of them.
 *
 * Rules that hold for every function here:
 *  - 0 (TAPER_OK) is success. On failure a taper_error, where one was given, says why and what to
 * do.
 *  - The library never prints, never exits, has no global state.
 *  - A handle may be used by one thread at a time; different handles by different threads at once.
 * A model is read-only after loading: any number of handles and threads may share it.
 *  - All bytes are treated as hostile: sizes are checked against taper_limits before memory is
 * taken.
 *  - TAPER_ERR_ARG, also where the text does not say so: a pointer is NULL and the text does not
 * allow it, or a function of a source or a sink is; there are more elements than memory can have;
 * a call comes out of order. Such a call changes nothing, and the handle goes on. A function that
 * returns no status gives 0, NULL, -1 or UINT32_MAX.
 *  - Pointers handed in are borrowed for the call only, unless the text says otherwise. */
#ifndef TAPER_H
#define TAPER_H
#include "formats/taper_types.h"
#include "codec/taper_model.h"
#include "codec/taper_search.h"
#include "codec/taper_index.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
TAPER_API const char *taper_version(void);

/* A short English name of a status, e.g. "corrupt". Never NULL. */
TAPER_API const char *taper_status_name(taper_status status);

/* --- encoding: fed images, one file at the end ----------------------------------------- */

typedef struct taper_encoder taper_encoder;

typedef enum taper_layout {
    TAPER_LAYOUT_SET =
        0, /* layers of groups of many images: a prefix of the file is the whole set, coarser */
    TAPER_LAYOUT_IMAGE = 1 /* one image after the other, each whole: one read fetches one image */
} taper_layout;

/* How a set's bytes are shared out among its images, wherever the file is cut. */
typedef enum taper_allocation {
    TAPER_ALLOCATION_EVEN = 0, /* a bit goes where it lowers the squared error most */
    TAPER_ALLOCATION_MEAN = 1, /* where it raises the images' mean PSNR most: to plainer images */
    TAPER_ALLOCATION_EQUAL = 2 /* so that all images are of about the same PSNR: to richer images */
} taper_allocation;

typedef struct taper_encode_options {
    taper_layout layout;         /* default TAPER_LAYOUT_SET */
    taper_allocation allocation; /* default TAPER_ALLOCATION_EVEN; the only one for binary models */
    uint32_t group_images; /* images in a group, 0: chosen so that a group holds about a million
                              pixels. 1..65536; ignored under TAPER_LAYOUT_IMAGE, where it is 1 */
    uint64_t
        target_bytes_per_megapixel; /* stop there: ceiling on the image data (bpp * 125,000). Passes
                              are planned for the model's own images: plainer ones end below it.
                              0: encode everything the model knows, about 50 dB; taper_truncate then
                              uses any ceiling */
    int embed_model;                /* nonzero: the container carries its model (set model_bytes) */
    const void *model_bytes; /* the .tpm file's bytes, for embed_model; borrowed until the encoder
                                is freed */
    size_t model_size;
    unsigned threads; /* worker threads, 0 or 1: none besides the caller's; above 256: 256. The
                         bytes are the same for any value */
    FILE *spool; /* empty file open for reading and writing, where compressed chunks wait; stays the
                    caller's, and open until the encoder is freed. NULL: C's tmpfile() */
    const taper_limits *limits; /* NULL: defaults */
    int quick;   /* nonzero: no last step for a set of at most 4,096 pixels (taper_encoder_finish):
                    a second less; more bytes of a plain picture may then show up to 10 dB less */
    int measure; /* nonzero: the encoder finds out for taper_encoder_quality how well it keeps its
                    images; a twentieth of its time */
} taper_encode_options;

/* options may be NULL: all defaults. Compressed chunks wait in the spool, so that memory does not
 * grow with the set. On success *out is the caller's; on failure NULL. TAPER_ERR_ARG: an option is
 * out of range, the model is an embedding model, which has no decoder, or model_bytes are not its
 * file. */
TAPER_API taper_status taper_encoder_new(taper_encoder **out, const taper_model *model,
                                         const taper_encode_options *options, taper_error *error);
/* Append an image; pixels are copied. name: the file's name ("cat/1.jpg"), or NULL;
 * label: class 0.., or -1. TAPER_ERR_UNSUPPORTED: alpha, or colour for a grey model (grey is taken
 * by colour models): this image is not added and the encoder goes on; TAPER_ERR_LIMIT likewise,
 * where the image or its number is above a limit; and TAPER_ERR_ARG: the image or its name is not
 * legal, or codes for search were set. Any other error is final for the encoder, and so
 * is TAPER_ERR_LIMIT where the set or a group takes more than max_memory: taper_encoder_finish says
 * it again. */
TAPER_API taper_status taper_encoder_add(taper_encoder *encoder, const taper_image *image,
                                         const char *name, int32_t label, taper_error *error);
/* Names of the classes, in label order, to be stored with the labels. Copied. Call at most once,
 * before finish. */
TAPER_API taper_status taper_encoder_set_classes(taper_encoder *encoder, const char *const *names,
                                                 size_t n, taper_error *error);
/* Codes of bits of all images by another model, for search: they go into the front matter, so that
 * every cut has them. Indexes are made of them (`taper index`), whatever the images' sizes; readers
 * that do not know them pass over them; truncate, repack and merge carry them. */
typedef struct taper_search_codes {
    uint64_t model_id;       /* taper_model_info.id of the binary model that made them */
    uint32_t bits;           /* of each, 1..65536 */
    size_t n;                /* of images: as many as are in the container */
    const uint64_t *codes;   /* [n][(bits + 63) / 64], see taper_index.h */
    const void *model_bytes; /* that model's .tpm file, for the container to carry, so that images
                                can be searched for without it at hand; NULL: it does not */
    size_t model_size;
} taper_search_codes;
/* Copied. Call at most once, after the last taper_encoder_add. TAPER_ERR_ARG: a number is out of
 * range, n is not the number of images that were added, or the model is another one, not binary, or
 * has fewer units than bits; or as of taper_model_load. */
TAPER_API taper_status taper_encoder_set_search_codes(taper_encoder *encoder,
                                                      const taper_search_codes *codes,
                                                      taper_error *error);
/* Finish the last group and write the container. At least one image must have been added. The
 * encoder can only be asked for its quality and freed afterwards, also after a failure. A set of
 * one group and at most 4,096 pixels gets a last step, of some tenths of a second: its cuts are
 * drawn and compared with the images. The data end where the set's mean PSNR is highest, and the
 * container says which cuts are drawn as shorter ones that show more. No cut is drawn more than
 * 0.3 dB below what its bytes show. (repack and merge have no such step, nor have sets of several
 * groups.) */
TAPER_API taper_status taper_encoder_finish(taper_encoder *encoder, const taper_sink *sink,
                                            taper_error *error);
/* Below this, an image at full length is not what people expect to get back. */
#define TAPER_POOR_PSNR_DB 45.0

typedef struct taper_encode_quality {
    double least_psnr_db;   /* of all images, at the container's full length, before a target cuts
                               it; 100 where nothing is lost */
    uint64_t least_image;   /* whose it is; of several the first */
    const char *least_name; /* its name as stored, or NULL; lives as long as the encoder */
    uint64_t poor;          /* images below TAPER_POOR_PSNR_DB */
} taper_encode_quality;
/* After taper_encoder_finish, with options.measure: how well the images are kept at least. It is
 * rendered by the model's linear path alone and compared on the 8-bit scale, and so within half a
 * decibel of what a decoder gives, but where next to nothing is lost: of images of a few pixels,
 * and of 16 bits, whose finer differences do not count. TAPER_ERR_ARG: nothing was measured. */
TAPER_API taper_status taper_encoder_quality(const taper_encoder *encoder,
                                             taper_encode_quality *out);
TAPER_API void taper_encoder_free(
    taper_encoder *encoder); /* NULL is fine; drops what was not finished */

/* --- decoding: pushed bytes, a source to read from, or ranges in any order -------------- */

typedef struct taper_decoder taper_decoder;

typedef struct taper_container_info {
    uint64_t model_id;
    int has_model; /* the container carries its model */
    taper_layout layout;
    uint64_t images, pixels; /* pixels over all images */
    uint32_t groups, layers;
    uint32_t passes;      /* passes that the whole file holds */
    uint64_t front_bytes; /* header, directory, names, labels, embedded model: all that comes before
                             image data */
    uint64_t file_bytes;  /* of the whole file; a cut file has fewer */
    int has_names, has_labels;
    uint32_t classes;         /* names of classes; 0 without labels */
    uint32_t search_bits;     /* of each image's code for search; 0: there are none */
    uint64_t search_model_id; /* of the model that made them */
    int has_search_model;     /* the container carries it: taper_decoder_search_model */
} taper_container_info;

typedef struct taper_image_info {
    uint32_t width, height;
    uint8_t channels; /* 1 or 3: as encoded */
    uint8_t depth;    /* 8 or 16 */
    uint64_t bytes;   /* of the pixels that taper_decoder_render writes */
    uint32_t group;
    int32_t label;          /* -1: none */
    const char *name;       /* NULL: none; lives as long as the decoder */
    uint32_t columns, rows; /* windows of the model that cover it: each has a code of its own */
} taper_image_info;

/* How complete a rendered image is. */
typedef struct taper_completeness {
    uint32_t passes;         /* complete passes behind these pixels */
    uint32_t passes_in_file; /* that the whole file holds */
    uint64_t bytes;          /* of image data used, of this image's group */
    int complete;            /* nothing more will come for this image */
} taper_completeness;

/* A decoder that is pushed bytes in file order (taper_decoder_push) or supplied with ranges
 * (taper_decoder_supply): the first call decides which. model: NULL when the container carries its
 * own, or was made with one that ships (taper_model_builtin). One that is pushed bytes keeps the
 * state of every group, so that more bytes refine without starting again, and the bytes of groups
 * that are not complete; one that is supplied keeps what it was given, and the state of one group,
 * as taper_decoder_open. */
TAPER_API taper_status taper_decoder_new(taper_decoder **out, const taper_model *model,
                                         const taper_limits *limits, taper_error *error);
/* The next n bytes of the file. TAPER_OK also when they are not enough yet for anything, and when a
 * checksum fails, which is told when an image that it concerns is rendered: what was rendered of a
 * chunk before its checksum was known is taken back where that fails. A failure is final: every
 * later call returns it again (what was decoded before can still be rendered). Bytes after the end
 * of the container are TAPER_ERR_CORRUPT. */
TAPER_API taper_status taper_decoder_push(taper_decoder *decoder, const void *bytes, size_t n,
                                          taper_error *error);

/* A decoder over random-access bytes; a source shorter than the container is a cut file.
 * source->read must stay callable until the decoder is freed. Keeps one group at a time, of each
 * share of the bits that there is (taper_allocation).
 * TAPER_ERR_TRUNCATED: shorter than its front matter ("incomplete header, need N more bytes").
 * TAPER_ERR_CORRUPT: also a model that the container carries, for its images or for search, is
 * broken or another than it says, whether it is needed or not. All that reads a container refuses
 * such a one. A carried model of another version or above the limits is refused where it is needed.
 */
TAPER_API taper_status taper_decoder_open(taper_decoder **out, const taper_source *source,
                                          const taper_model *model, const taper_limits *limits,
                                          taper_error *error);
/* The other way to feed a decoder of taper_decoder_new: it says which bytes of the file an image
 * needs, and takes them, or any others, in any order. So one image is read out of a large file over
 * HTTP or out of a database, without a callback that waits:
 *
 *     taper_range range;
 *     size_t wanted;
 *     while (!(status = taper_decoder_plan(d, i, cut, &range, 1, &wanted, &error)) && wanted) {
 *         ... fetch range.size bytes from range.offset of the file into bytes ...
 *         if ((status = taper_decoder_supply(d, range.offset, bytes, range.size, &error))) break;
 *     }
 *     if (!status) status = taper_decoder_render(d, i, &image, NULL, &error);
 */
typedef struct taper_range {
    uint64_t offset, size; /* bytes of the file, size 1.. */
} taper_range;

/* Which bytes are wanted that have not been supplied, to render image i, or to take its codes, as
 * from a file cut to `cut` bytes; UINT64_MAX: from the whole file. ranges: the caller's, [room], or
 * NULL for room 0. They rise, and there is a gap between any two. *count: how many ranges there
 * are, of which the first `room` are written; 0: nothing is wanted. As long as the front matter is
 * not whole it alone is wanted, whatever i and cut: the header, then its table, which says how long
 * the rest is. Where a request costs more than bytes do, supply some kilobytes of the file's start
 * first. Then the chunks of the image's group are wanted, up to the cut, and no others.
 *
 * From now on all images are rendered as of this cut, even when bytes beyond it are at hand: when
 * nothing is wanted, pixels are those of taper_decoder_open with a source of `cut` bytes. Before
 * the first plan the cut is UINT64_MAX. A range need not be supplied whole: its beginning gives the
 * image, coarser. So is one image made smaller under TAPER_LAYOUT_IMAGE, where its chunks are one
 * range.
 *
 * TAPER_ERR_CORRUPT: bytes that were supplied are damaged (a checksum fails). They are among the
 * ranges, which are valid: supply them anew if another copy may be better, else render what there
 * is. Under TAPER_LAYOUT_IMAGE several small images, of about 4 KB in all, share a checksum; it is
 * tested when all of its bytes are there, but they are not wanted for its sake. TAPER_ERR_ARG:
 * there is no image i, or the decoder has a source or was pushed. Other statuses are those of the
 * front matter, as of taper_decoder_open; *count is 0. TAPER_ERR_LIMIT comes before front matter
 * that is too large is wanted. */
TAPER_API taper_status taper_decoder_plan(taper_decoder *decoder, uint64_t i, uint64_t cut,
                                          taper_range *ranges, size_t room, size_t *count,
                                          taper_error *error);
/* `size` bytes of the file from `offset` on, wanted or not. They are copied, and held until the
 * decoder is freed. Bytes may come again; where they differ from those before, the later ones
 * count, and what was decoded is decoded anew. No failure is final: other bytes may be supplied, or
 * the same again.
 * TAPER_ERR_CORRUPT, _VERSION, _MODEL, _LIMIT, _NOMEM as of taper_decoder_open: of the front
 * matter, which is read as soon as it is all there. The bytes are held; it is read again when some
 * of them change. TAPER_ERR_CORRUPT also: bytes follow the container's end. Once the front matter
 * is known nothing of such a range is held. TAPER_ERR_LIMIT, _NOMEM also: there is no room for
 * these bytes beside what is held; nothing has changed. TAPER_ERR_ARG: offset + size is above 2^64
 * - 1, or the decoder has a source or was pushed. Damage of image data is told by
 * taper_decoder_plan and taper_decoder_render. */
TAPER_API taper_status taper_decoder_supply(taper_decoder *decoder, uint64_t offset,
                                            const void *bytes, size_t size, taper_error *error);

TAPER_API void taper_decoder_free(taper_decoder *decoder); /* NULL is fine */

/* Threads that work on one image, the caller's among them; 1 at first, 0: one per processor. For a
 * large image that is waited for: many images are decoded faster by as many decoders. Pixels are
 * the same for every number; fewer are used where the system grants fewer. May be called at any
 * time. TAPER_ERR_NOMEM: the decoder goes on with one. */
TAPER_API taper_status taper_decoder_set_threads(taper_decoder *decoder, unsigned threads);

/* How many more bytes the front matter needs, as far as is known; all of them if it is damaged and
 * may be supplied anew. 0: it is whole and images can be rendered. */
TAPER_API uint64_t taper_decoder_bytes_needed(const taper_decoder *decoder);
/* Both need the whole front matter: TAPER_ERR_TRUNCATED before. i counts from 0. */
TAPER_API taper_status taper_decoder_get_info(const taper_decoder *decoder,
                                              taper_container_info *out);
TAPER_API taper_status taper_decoder_image_info(const taper_decoder *decoder, uint64_t i,
                                                taper_image_info *out);
/* Name of class k, 0 .. classes - 1; NULL when out of range. Lives as long as the decoder. */
TAPER_API const char *taper_decoder_class_name(const taper_decoder *decoder, uint32_t k);
/* First place and number of images of group g, for reading group by group: place p holds image
 * taper_decoder_image_at(p), which is p itself unless the images were given different shares of the
 * bits (taper_allocation). */
TAPER_API taper_status taper_decoder_group_range(const taper_decoder *decoder, uint32_t g,
                                                 uint64_t *first, uint64_t *count);
TAPER_API uint64_t taper_decoder_image_at(const taper_decoder *decoder, uint64_t place);

/* Render image i as it stands with the bytes at hand. out->pixels: the caller's memory of
 * taper_image_info.bytes bytes; width, height, channels and depth are filled in. done may be NULL.
 * In one group, ask in rising order for speed; any order is legal. TAPER_ERR_CORRUPT: a chunk fails
 * its checksum: what lies before it has been used, the pixels are valid, and other groups are not
 * affected. */
TAPER_API taper_status taper_decoder_render(taper_decoder *decoder, uint64_t i, taper_image *out,
                                            taper_completeness *done, taper_error *error);

/* Where layer 0 .. taper_container_info.layers - 1 of the container ends: *cut bytes of the file
 * hold the layers up to it, of all images, and *passes passes of image i, for taper_decoder_plan
 * and taper_decoder_codes. TAPER_ERR_TRUNCATED: before the front matter is whole; TAPER_ERR_ARG:
 * there is no such image or layer. */
TAPER_API taper_status taper_decoder_layer(const taper_decoder *decoder, uint64_t i, uint32_t layer,
                                           uint64_t *cut, uint32_t *passes);

/* The codes of image i as they stand with the bytes at hand, without the network that makes pixels
 * of them: for search. A code is that of a window, and there are columns * rows of them
 * (taper_image_info), row after row. values: the caller's, [columns * rows][units], the first
 * `units` units of each, 1 .. taper_model_info.units, as the network would be given them: on the
 * scale of the model's units, the middle of what is known of each, or 0 where that is nothing (but
 * for the guess of a model with head_hidden). Of a binary model: the bit less its centre, a
 * constant from 0 to 1, and 0 where it is not known. planes: NULL, or as large as
 * values: how many of the model's bit planes of each value are known, 0: nothing; each plane halves
 * the interval that it may lie in. Of a binary model 1: the bit is known.
 *
 * passes: nothing is decoded beyond so many (taper_decoder_layer: to stop at a layer; of a binary
 * model pass u is unit u); UINT32_MAX: all that is at hand. The fewer, the faster. Of pushed bytes
 * all have been decoded, and all count. done may be NULL; its passes are those behind these codes.
 *
 * Changing between few passes and many, or pixels, decodes the group anew: take the codes of all
 * images first. TAPER_ERR_TRUNCATED: before the front matter is whole. TAPER_ERR_ARG: there is no
 * such image, no unit or too many, or no values. TAPER_ERR_CORRUPT: as of taper_decoder_render,
 * with valid codes. TAPER_ERR_LIMIT, _NOMEM: no room for the group. */
TAPER_API taper_status taper_decoder_codes(taper_decoder *decoder, uint64_t i, uint32_t units,
                                           uint32_t passes, float *values, uint8_t *planes,
                                           taper_completeness *done, taper_error *error);

/* The code for search of image i: code[(search_bits + 63) / 64] of taper_container_info.
 * TAPER_ERR_TRUNCATED: before the front matter is whole. TAPER_ERR_ARG: there is no such image, or
 * there are no such codes. */
TAPER_API taper_status taper_decoder_search_code(const taper_decoder *decoder, uint64_t i,
                                                 uint64_t *code, taper_error *error);

/* The model of these codes, where the container carries it; *out is the caller's, NULL on failure.
 * TAPER_ERR_TRUNCATED: before the front matter is whole. TAPER_ERR_ARG: it carries none.
 * TAPER_ERR_CORRUPT: it is another model, or not binary, or has fewer bits; or as of
 * taper_model_load. */
TAPER_API taper_status taper_decoder_search_model(const taper_decoder *decoder, taper_model **out,
                                                  taper_error *error);

/* --- containers into containers, without the network ----------------------------------- */

/* A smaller whole container of at most max_bytes. Under TAPER_LAYOUT_SET it holds the prefix that
 * fits; under TAPER_LAYOUT_IMAGE each image's stream is shortened to the same fraction.
 * TAPER_ERR_LIMIT: max_bytes does not even hold the front matter. */
TAPER_API taper_status taper_truncate(const taper_source *from, uint64_t max_bytes,
                                      const taper_sink *to, const taper_limits *limits,
                                      taper_error *error);
/* The same codes in another layout. Needs the model's tables: of model, or, with NULL, of the
 * embedded one or one that ships.
 * group_images as in taper_encode_options. A cut source
 * yields the passes that all its images have whole. */
TAPER_API taper_status taper_repack(const taper_source *from, const taper_model *model,
                                    taper_layout layout, uint32_t group_images,
                                    const taper_sink *to, const taper_limits *limits,
                                    taper_error *error);
/* Join n containers of one model and layout into one, in order, without recoding: every image
 * renders as it does in its own (but for strings that no encoder makes, of a hostile file). They
 * may be of taper_truncate, and their layers, names and classes may differ: classes are joined by
 * name, a name that an earlier container has, too, goes into a folder shard-2/ and so on. All their
 * bytes must be there (TAPER_ERR_ARG). TAPER_ERR_LIMIT: their layers end in more ways than a
 * container has rate classes, 16. */
TAPER_API taper_status taper_merge(const taper_source *from, size_t n, const taper_sink *to,
                                   const taper_limits *limits, taper_error *error);

typedef struct taper_verify_report {
    uint64_t chunks, chunks_whole, chunks_bad, chunks_cut,
        chunks_missing;        /* whole: checksum holds */
    uint64_t first_bad_offset; /* in the file, of the first chunk whose checksum fails; 0 when none
                                  does */
    uint64_t bytes_missing;    /* 0: the file is whole */
    uint32_t layers_whole;     /* layers that are whole for every group */
} taper_verify_report;
/* Check every checksum, and, where all hold, load the models that the container carries; needs no
 * other. TAPER_ERR_CORRUPT when a checksum fails (the report is filled all the same); a cut is not
 * an error. Of the models as taper_decoder_open without a model, and as taper_decoder_search_model.
 */
TAPER_API taper_status taper_verify(const taper_source *from, taper_verify_report *report,
                                    const taper_limits *limits, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
