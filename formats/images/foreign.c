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
    {CONVERT("JPEG 2000", "jp2"), ".jp2.j2k.jpx.", 0, "\0\0\0\fjP  \r\n", 10, NULL},
    {CONVERT("JPEG 2000", "j2c"), ".j2c.jpc.", 0, "\xFF\x4F\xFF\x51", 4, NULL},
    {RAW, ".cr2.cr3.nef.arw.dng.orf.rw2.raf.", 4, "ftypcrx", 7, NULL},
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
#define VIDEO             "this is a video: take pictures out of it first (ffmpeg -i FILE %04d.png)"
static const kind others[] = {
    {UNPACK("tar archive", "tar xf FILE"), "", 257, "ustar", 5, NULL},
    {UNPACK("zip archive", "bsdtar xf FILE, package libarchive-tools"), "", 0, "PK\3\4", 4, NULL},
    {UNPACK("7z archive", "bsdtar xf FILE, package libarchive-tools"), "", 0, "7z\xBC\xAF\x27\x1C",
     6, NULL},
    {UNPACK("RAR archive", "bsdtar xf FILE, package libarchive-tools"), "", 0, "Rar!\x1A\a", 6,
     NULL},
    {UNPACK("file packed with xz", "unxz or tar xf FILE"), "", 1, "7zXZ", 4, NULL},
    {UNPACK("file packed with bzip2", "bunzip2 or tar xf FILE"), "", 0, "BZh", 3, NULL},
    {UNPACK("file packed with zstd", "unzstd or tar xf FILE"), "", 0, "\x28\xB5\x2F\xFD", 4, NULL},
    {"this is a PDF: draw its pages first (pdftoppm -png FILE OUT, package poppler-utils)", "", 0,
     "%PDF-", 5, NULL},
    {VIDEO, "", 4, "ftypiso", 7, NULL},
    {VIDEO, "", 4, "ftypmp4", 7, NULL},
    {VIDEO, "", 4, "ftypM4V", 7, NULL},
    {VIDEO, "", 4, "ftypqt", 6, NULL},
    {VIDEO, "", 4, "ftyp3g", 6, NULL},
    {VIDEO, "", 0, "\x1A\x45\xDF\xA3", 4, NULL},
    {VIDEO, "", 0, "RIFF", 4, "AVI "},
    {"this is a container: `taper decode` writes its images, `taper merge` joins it to others", "",
     0, "\x89TPR\r\n\x1A\n", 8, NULL},
    {"this is a model: give it with -m", "", 0, "\x89TPM\r\n\x1A\n", 8, NULL},
    {"this is an index: give it to `taper search`", "", 0, "\x89TPX\r\n\x1A\n", 8, NULL},
};
enum { OTHERS = sizeof others / sizeof others[0] };

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

const char *formats_foreign_by_content(const uint8_t *front, size_t n, const char *path,
                                       int *is_other) {
    *is_other = 0;
    if (path && formats_foreign_is_raw(path)) return RAW;
    for (size_t i = 0; i < KINDS; i++)
        if (begins_so(&kinds[i], front, n)) return kinds[i].sentence;
    for (size_t i = 0; i < OTHERS; i++)
        if (begins_so(&others[i], front, n)) {
            *is_other = 1;
            return others[i].sentence;
        }
    return NULL;
}

int formats_foreign_is_raw(const char *path) {
    const char *named = formats_foreign_by_name(path);
    return named && !strcmp(named, RAW);
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
