/* decoder.h -- a decoder's state, which the room's files share; the public face is in taper.h.
 *
 * The room codec/decoder/: containers into images.
 *   decoder          the handle: opening, its groups, what the front matter tells
 *   pushed           bytes in file order
 *   supplied         bytes in any order, and which of them an image wants; byte_store: where they
 *                    are kept
 *   rendering        pixels of an image, as far as the bytes go
 *   codes            its codes, without the network
 *   group_reader     one group as its chunks arrive
 *   levels           what a decoder knows as text, to compare decoders */
#ifndef CODEC_DECODER_H
#define CODEC_DECODER_H
#include "codec/backend/backend.h"
#include "codec/decoder/group_reader.h"
#include "codec/taper.h"

enum {
    CODEC_RENDER_WINDOWS = 512 /* dequantised or rendered at once, or as many as an image has */
};

/* Decoded windows of one group at one state. */
typedef struct codec_rendered {
    float *pixels;
    size_t capacity;          /* windows */
    uint32_t group, first, n; /* n 0: nothing */
    uint32_t pass, position;  /* the state that was rendered */
} codec_rendered;

struct taper_decoder {
    const taper_model *model;
    taper_model *own_model; /* the embedded one, or one that ships */
    taper_limits limits;
    codec_backend backend;
    formats_front front;
    int front_ready;
    taper_source source;         /* read == NULL: bytes are pushed, or none has come yet */
    codec_group_readers readers; /* of the source */
    uint32_t enough[FORMATS_MAX_RATE_CLASSES]; /* model's passes that these are decoded to */
    codec_byte_store held;                     /* supplied: what the source has */
    uint64_t cut;                /* supplied: bytes of the file that the source stands for */
    codec_group_reader **reader; /* pushed: [groups], opened as their bytes come; else NULL */
    formats_buffer head;         /* pushed bytes of the front matter */
    uint64_t need;               /* of the front matter */
    formats_buffer waiting;      /* pushed: bytes of the data, not drawn yet (formats/holds.h) */
    uint64_t arrived;            /* pushed: bytes of the data, those that wait among them */
    uint64_t chunk, in_chunk;    /* pushed: chunk in work and bytes of it so far */
    formats_account account;     /* of all that is taken, but for the model */
    uint32_t crc;                /* of the checksum block in work */
    codec_rendered rendered[FORMATS_MAX_RATE_CLASSES];
    taper_error failure; /* of push: final; of supply: of the front matter as it was supplied */
};

/* The front matter is there: bind the model. */
taper_status codec_decoder_bind(taper_decoder *decoder, taper_error *error);

/* TAPER_ERR_LIMIT: front matter of so many bytes. */
taper_status codec_decoder_refuse_front(const taper_decoder *decoder, uint64_t bytes,
                                        taper_error *error);

/* Image i: what it is, its group, which is decoded as far as the bytes go but to no more than so
 * many of the model's passes (pushed bytes are all decoded), and its windows there: n from first.
 * TAPER_ERR_TRUNCATED: the front matter is not whole; TAPER_ERR_ARG: there is no such image; as
 * codec_group_readers_turn. */
typedef struct codec_decoder_image {
    taper_image_info info;
    codec_group_reader *group;
    uint32_t first, n;
} codec_decoder_image;
taper_status codec_decoder_find(const taper_decoder *decoder, uint64_t i, taper_image_info *info,
                                taper_error *error);
taper_status codec_decoder_turn(taper_decoder *decoder, uint64_t i, uint32_t passes,
                                codec_decoder_image *out, taper_error *error);

/* Of an image that was found: how much of it is there, and whether its group is damaged. */
taper_completeness codec_decoder_completeness(const taper_decoder *decoder,
                                              const codec_group_reader *group);
taper_status codec_decoder_damage(const codec_group_reader *group, taper_error *error);

/* The reader of a group whose bytes are pushed, opened if need be. */
taper_status codec_decoder_pushed_group(taper_decoder *decoder, uint32_t g,
                                        codec_group_reader **out, taper_error *error);

/* Give back what is kept of other rate classes, and what was rendered of all. */
void codec_decoder_make_way(taper_decoder *decoder, uint32_t rate_class);
void codec_decoder_drop_rendered(taper_decoder *decoder, codec_rendered *rendered);

#endif
