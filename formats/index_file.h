/* index_file.h -- the bytes of a .tpx file: codes of bits in their order, which image each is of,
 * and names and labels of these images. codec/taper_index.h has what is done with it, SPEC.md
 * section 15 the layout.
 *
 * The file is used where it lies, mapped or read into memory; what is copied are names and labels,
 * which are written as in a container. It is written front to back: the checksums of its parts
 * stand at the end. */
#ifndef FORMATS_INDEX_FILE_H
#define FORMATS_INDEX_FILE_H
#include "formats/front.h"

enum {
    FORMATS_INDEX_VERSION = 1,
    FORMATS_INDEX_HEADER = 64,
    FORMATS_INDEX_ALIGN = 64, /* where parts begin */
    FORMATS_INDEX_MOST_BITS = 1 << 16,
    FORMATS_INDEX_MOST_TABLE_BITS = 24,
    FORMATS_INDEX_EFFORTS = 10,
    FORMATS_INDEX_MOST_SHARE = 1000000
};

/* The parts, in the order of the file. */
enum formats_index_part {
    FORMATS_INDEX_WEIGHTS, /* u16 [layers] what a differing bit of each layer counts, 1.. */
    FORMATS_INDEX_SHARES,  /* f32 [layers][2] mean and spread of the share of a distance, see
                              codec/search/cascade.h; 0..FORMATS_INDEX_MOST_SHARE */
    FORMATS_INDEX_RECALLS, /* f32 [FORMATS_INDEX_EFFORTS] measured, 0..1 */
    FORMATS_INDEX_START,   /* u32 [2^table_bits + 1] codes below those that begin with these bits */
    FORMATS_INDEX_CODES,   /* u64, layer after layer: [codes] word 0, rising; [codes] word 1;
                              [codes][2] words 2 and 3; [codes][4] words 4 to 7; and so on */
    FORMATS_INDEX_IMAGE,   /* u32 [codes] the image that each is of, below `codes` */
    FORMATS_INDEX_NAMES,   /* as section `name` of a container; empty: there are none */
    FORMATS_INDEX_LABELS,  /* as section `labl`; empty: there are none */
    FORMATS_INDEX_PARTS
};

typedef struct formats_index_header {
    uint32_t bits;       /* of a code, 1..FORMATS_INDEX_MOST_BITS */
    uint32_t table_bits; /* 0..FORMATS_INDEX_MOST_TABLE_BITS */
    uint64_t codes;      /* 1..2^32 - 1 */
    uint64_t model_id;   /* of the model that the codes are of; 0: not told */
    uint64_t names_size, labels_size;
} formats_index_header;

/* Size of a part in bytes; offset of one from the start of the file, of FORMATS_INDEX_PARTS that of
 * the checksums. Of a header whose fields are in range neither overflows. */
uint64_t formats_index_size(const formats_index_header *header, unsigned part);
uint64_t formats_index_offset(const formats_index_header *header, unsigned part);
/* The whole file. */
uint64_t formats_index_file_size(const formats_index_header *header);
/* 64-bit words of a code; layers that they lie in. */
uint32_t formats_index_words(const formats_index_header *header);
uint32_t formats_index_layers(const formats_index_header *header);

typedef struct formats_index_file {
    formats_index_header header;
    const uint8_t *bytes;
    formats_front set; /* images, names and labels alone; it owns these */
} formats_index_file;

/* Open the file of `size` bytes at `bytes`, which stay the caller's and must lie on a multiple of 8
 * and outlive *out. All but the codes themselves is read and checked: that numbers are in the
 * ranges of enum formats_index_part. TAPER_ERR_CORRUPT: no index, or damaged. _TRUNCATED: bytes are
 * missing at the end. _VERSION. _LIMIT: more codes than limits->max_images, or no room for names.
 * _UNSUPPORTED: this machine's integers begin with the highest byte. _NOMEM. On failure nothing is
 * held. */
taper_status formats_index_open(formats_index_file *out, const void *bytes, uint64_t size,
                                const taper_limits *limits, taper_error *error);
void formats_index_close(formats_index_file *file); /* a zeroed one is fine */
const void *formats_index_part_at(const formats_index_file *file, unsigned part);
/* Whether the codes are as they were written: their checksum. TAPER_ERR_CORRUPT. */
taper_status formats_index_check_codes(const formats_index_file *file, taper_error *error);

/* Names and labels of `set` as their parts of a file; their sizes go into the header. On failure,
 * TAPER_ERR_NOMEM, both are empty. */
taper_status formats_index_texts(const formats_front *set, formats_index_header *header,
                                 formats_buffer *names, formats_buffer *labels, taper_error *error);

/* Writing: begin, then all bytes of all parts in order, in pieces of any size, then end. After a
 * failure all that follows fails alike. */
typedef struct formats_index_writer {
    formats_index_header header;
    const taper_sink *sink;
    unsigned part;
    uint64_t left; /* bytes of the part that are to come */
    uint32_t checksum[FORMATS_INDEX_PARTS];
    taper_status status;
} formats_index_writer;

void formats_index_begin(formats_index_writer *writer, const formats_index_header *header,
                         const taper_sink *sink);
void formats_index_put(formats_index_writer *writer, const void *bytes, uint64_t n);
/* TAPER_OK, or the first failure of the sink. */
taper_status formats_index_end(formats_index_writer *writer);

#endif
