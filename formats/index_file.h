/* index_file.h -- reads and writes .tpx files: sorted binary codes, the image of each code, and the
 * names and labels of the images. SPEC.md section 15 has the layout; codec/taper_index.h searches.
 *
 * The file is used in place, mapped or read into memory. Only labels are copied, and a table of
 * where names begin is made. Names and labels have the form that they have in a container. The file
 * is written in one pass: the checksums of the parts stand at the end. */
#ifndef FORMATS_INDEX_FILE_H
#define FORMATS_INDEX_FILE_H
#include "formats/front.h"
#include "formats/index_set_part.h"

enum {
    FORMATS_INDEX_VERSION = 1,
    FORMATS_INDEX_HEADER = 64,
    FORMATS_INDEX_ALIGN = 64, /* parts begin at multiples of this */
    FORMATS_INDEX_MOST_BITS = 1 << 16,
    FORMATS_INDEX_MOST_TABLE_BITS = 24,
    FORMATS_INDEX_EFFORTS = 10,
    FORMATS_INDEX_MOST_SHARE = 1000000
};

/* The parts, in the order of the file. */
enum formats_index_part {
    FORMATS_INDEX_WEIGHTS, /* u16 [layers] weight of a differing bit of each layer, 1.. */
    /* f32 [layers][2] mean and spread of the share of a distance (codec/search/cascade.h),
     * 0..FORMATS_INDEX_MOST_SHARE */
    FORMATS_INDEX_SHARES,
    FORMATS_INDEX_RECALLS, /* f32 [FORMATS_INDEX_EFFORTS] measured recall, 0..1 */
    /* u32 [2^table_bits + 1] element t: number of codes whose first table_bits bits are below t */
    FORMATS_INDEX_START,
    /* u64, layer after layer: [codes] word 0, ascending; [codes] word 1; [codes][2] words 2 and 3;
     * [codes][4] words 4 to 7; and so on */
    FORMATS_INDEX_CODES,
    FORMATS_INDEX_IMAGE,  /* u32 [codes] number of the image of each code, below `codes` */
    FORMATS_INDEX_NAMES,  /* as section `name` of a container; may be empty */
    FORMATS_INDEX_LABELS, /* as section `labl`; may be empty */
    FORMATS_INDEX_PARTS
};

typedef struct formats_index_header {
    uint32_t bits;       /* of a code, 1..FORMATS_INDEX_MOST_BITS */
    uint32_t table_bits; /* 0..FORMATS_INDEX_MOST_TABLE_BITS */
    uint64_t codes;      /* 1..2^32 - 1 */
    uint64_t model_id;   /* of the model that made the codes; 0: unknown */
    uint64_t names_size, labels_size;
} formats_index_header;

/* Size of a part in bytes, and its offset from the start of the file. The offset of
 * FORMATS_INDEX_PARTS is that of the checksums. Neither overflows if the members of the header are
 * in range. */
uint64_t formats_index_size(const formats_index_header *header, unsigned part);
uint64_t formats_index_offset(const formats_index_header *header, unsigned part);
/* Size of the whole file in bytes. */
uint64_t formats_index_file_size(const formats_index_header *header);
/* Number of 64-bit words of a code, and number of layers. */
uint32_t formats_index_words(const formats_index_header *header);
uint32_t formats_index_layers(const formats_index_header *header);

typedef struct formats_index_file {
    formats_index_header header;
    const uint8_t *bytes;
    taper_part part; /* of a set; .parts 0: it does not say */
    /* Images, names and labels; all else is unused. Names point into `bytes`; it owns the rest. */
    formats_front set;
} formats_index_file;

/* Open a file in memory. bytes: the caller's; at a multiple of 8; they must outlive *out. All parts
 * except the codes are read and checked against the ranges of enum formats_index_part.
 * TAPER_ERR_CORRUPT: not an index, or damaged. TAPER_ERR_TRUNCATED: bytes are missing at the end.
 * TAPER_ERR_VERSION. TAPER_ERR_LIMIT: more codes than limits->max_images, or too little memory for
 * the table of names, or for labels. TAPER_ERR_UNSUPPORTED: this machine is big-endian.
 * TAPER_ERR_NOMEM. On failure *out needs no close. */
taper_status formats_index_open(formats_index_file *out, const void *bytes, uint64_t size,
                                const taper_limits *limits, taper_error *error);
void formats_index_close(formats_index_file *file); /* a zeroed one is fine */
const void *formats_index_part_at(const formats_index_file *file, unsigned part);
/* Test the checksum of the codes. TAPER_ERR_CORRUPT: it differs. */
taper_status formats_index_check_codes(const formats_index_file *file, taper_error *error);

/* Write the names and labels of `set` into two buffers, as parts of a file, and their sizes into
 * the header. On failure (TAPER_ERR_NOMEM) both buffers are empty. */
taper_status formats_index_texts(const formats_front *set, formats_index_header *header,
                                 formats_buffer *names, formats_buffer *labels, taper_error *error);

/* Writing: begin, then put all bytes of all parts in order, in pieces of any size, then end. After
 * a failure, later calls do nothing and end returns the first failure. */
typedef struct formats_index_writer {
    formats_index_header header;
    const taper_sink *sink;
    taper_part of_set; /* .parts 0: none */
    unsigned part;
    uint64_t left; /* bytes of the current part that are still to be written */
    uint32_t checksum[FORMATS_INDEX_PARTS];
    taper_status status;
} formats_index_writer;

/* part: a legal one, of which header->codes images are stored; NULL: the file does not say. */
void formats_index_begin(formats_index_writer *writer, const formats_index_header *header,
                         const taper_part *part, const taper_sink *sink);
void formats_index_put(formats_index_writer *writer, const void *bytes, uint64_t n);
/* TAPER_OK, or the first failure of the sink. */
taper_status formats_index_end(formats_index_writer *writer);

#endif
