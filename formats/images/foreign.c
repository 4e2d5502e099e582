/* foreign.c -- the table of formats that taper does not read; see foreign.h. */
#include "formats/images/foreign.h"
#include <string.h>
#include <strings.h>

/* The commands are those of Debian 12. They write the first of several pictures, on a white
 * background. tests/cli/remedies-*.sh extract and run them. */
#define NOT_READ(name, how) name " is not read: convert it to PNG first, for example " how
#define CONVERT(name, end) \
    NOT_READ(name,         \
             "convert 'IN." end "[0]' -background white -flatten OUT.png (package imagemagick)")
#define JXL \
    NOT_READ("JPEG XL", "djxl IN.jxl OUT.png (package libjxl-tools), and give --alpha white")
#define RAW \
    "camera raw is not read: develop it first, for example dcraw_emu -w IN (package libraw-bin)"

typedef struct kind {
    const char *sentence;
    const char *endings; /* extensions in lower case: ".a.b." */
    size_t at;           /* offset and bytes of the magic number */
    const char *bytes;   /* NULL: recognised only by extension */
    size_t size;
    const char *also; /* 4 more bytes at offset 8; NULL: none */
} kind;

static const kind kinds[] = {
    {CONVERT("WebP", "webp"), ".webp.", 0, "RIFF", 4, "WEBP"},
    {CONVERT("AVIF", "avif"), ".avif.avifs.", 4, "ftypavi", 7, NULL},
    {CONVERT("HEIC", "heic"), ".heic.heif.hif.", 4, "ftyphe", 6, NULL},
    {JXL, ".jxl.", 0, "\0\0\0\fJXL \r\n", 10, NULL},
    {JXL, ".jxl.", 0, "\xFF\n", 2, NULL},
    {CONVERT("JPEG 2000", "jp2"), ".jp2.j2k.jpx.", 0, "\0\0\0\fjP  \r\n", 10, NULL},
    {CONVERT("JPEG 2000", "j2c"), ".j2c.jpc.", 0, "\xFF\x4F\xFF\x51", 4, NULL},
    {RAW, ".cr2.cr3.nef.arw.dng.orf.rw2.raf.", 4, "ftypcrx", 7, NULL},
    {CONVERT("TIFF", "tif"), ".tif.tiff.", 0, "II*\0", 4, NULL},
    {CONVERT("TIFF", "tif"), ".tif.tiff.", 0, "MM\0*", 4, NULL},
    {CONVERT("TIFF", "tif"), ".tif.tiff.", 0, "II+\0", 4, NULL},
    {CONVERT("GIF", "gif"), ".gif.", 0, "GIF8", 4, NULL},
    {CONVERT("BMP", "bmp"), ".bmp.dib.", 0, NULL, 0, NULL}, /* by content: is_bmp */
    {CONVERT("Photoshop", "psd"), ".psd.", 0, "8BPS", 4, NULL},
    {CONVERT("OpenEXR", "exr"), ".exr.", 0, "\x76\x2F\x31\x01", 4, NULL},
    {NOT_READ("QOI", "ffmpeg -i IN.qoi -pix_fmt rgb24 OUT.png (package ffmpeg)"), ".qoi.", 0,
     "qoif", 4, NULL},
    {CONVERT("TGA", "tga"), ".tga.", 0, NULL, 0, NULL},
    {CONVERT("ICO", "ico"), ".ico.", 0, NULL, 0, NULL},
    {CONVERT("SVG", "svg"), ".svg.svgz.", 0, NULL, 0, NULL},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

#define UNPACK(name, how) "this is a " name ": unpack it first (" how ") and name the folder"
static const kind archives[] = {
    {UNPACK("tar archive", "tar xf FILE"), "", 257, "ustar", 5, NULL},
    {UNPACK("zip archive", "bsdtar xf FILE, package libarchive-tools"), "", 0, "PK\3\4", 4, NULL},
    {UNPACK("7z archive", "bsdtar xf FILE, package libarchive-tools"), "", 0, "7z\xBC\xAF\x27\x1C",
     6, NULL},
    {UNPACK("RAR archive", "bsdtar xf FILE, package libarchive-tools"), "", 0, "Rar!\x1A\a", 6,
     NULL},
    {UNPACK("file packed with xz", "unxz or tar xf FILE"), "", 1, "7zXZ", 4, NULL},
    {UNPACK("file packed with bzip2", "bunzip2 or tar xf FILE"), "", 0, "BZh", 3, NULL},
    {UNPACK("file packed with zstd", "unzstd or tar xf FILE"), "", 0, "\x28\xB5\x2F\xFD", 4, NULL},
};
enum { ARCHIVES = sizeof archives / sizeof archives[0] };

static const char *sentence_of(const char *ending) {
    for (size_t i = 0; i < KINDS; i++) {
        const char *at = strstr(kinds[i].endings, ending);
        if (at && at[strlen(ending)] == '.') return kinds[i].sentence;
    }
    return NULL;
}

static int begins_so(const kind *k, const uint8_t *front, size_t n) {
    if (!k->bytes || n < k->at + k->size) return 0;
    if (memcmp(front + k->at, k->bytes, k->size) != 0) return 0;
    return !k->also || (n >= 12 && memcmp(front + 8, k->also, 4) == 0);
}

/* The magic number has only two letters, so the reserved bytes and the size of the second header
 * are tested too. */
static int is_bmp(const uint8_t *front, size_t n) {
    static const uint8_t sizes[] = {12, 40, 52, 56, 64, 108, 124};
    return n >= 18 && memcmp(front, "BM", 2) == 0 && memcmp(front + 6, "\0\0\0\0", 4) == 0 &&
           memchr(sizes, front[14], sizeof sizes) && memcmp(front + 15, "\0\0\0", 3) == 0;
}

/* The first brand of HEIC and AVIF may be one that they share (mif1, msf1): then the other brands
 * decide. */
static const char *by_brands(const uint8_t *front, size_t n) {
    if (n < 16 || (memcmp(front + 4, "ftypmif1", 8) != 0 && memcmp(front + 4, "ftypmsf1", 8) != 0))
        return NULL;
    size_t end = front[3] < n ? front[3] : n;
    for (size_t at = 16; at + 4 <= end; at += 4)
        if (memcmp(front + at, "avi", 3) == 0) return sentence_of(".avif");
    return sentence_of(".heic");
}

const char *formats_foreign_by_content(const uint8_t *front, size_t n, const char *path,
                                       int *is_archive) {
    const char *named = path ? formats_foreign_by_name(path) : NULL;
    *is_archive = 0;
    for (size_t i = 0; i < KINDS; i++)
        if (begins_so(&kinds[i], front, n))
            return named && !strcmp(named, RAW) ? named : kinds[i].sentence;
    if (is_bmp(front, n)) return sentence_of(".bmp");
    const char *sentence = by_brands(front, n);
    for (size_t i = 0; i < ARCHIVES && !sentence; i++)
        if (begins_so(&archives[i], front, n)) {
            *is_archive = 1;
            sentence = archives[i].sentence;
        }
    return sentence;
}

const char *formats_foreign_by_name(const char *path) {
    const char *dot = strrchr(path, '.');
    char ending[8];
    size_t n = dot ? strlen(dot) : 0;
    if (n < 2 || n >= sizeof ending) return NULL;
    for (size_t i = 0; i <= n; i++)
        ending[i] = (char)(dot[i] >= 'A' && dot[i] <= 'Z' ? dot[i] + ('a' - 'A') : dot[i]);
    return sentence_of(ending);
}
