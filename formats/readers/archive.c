/* archive.c -- see archive.h. */
#include "formats/readers/archive.h"
#include "formats/bytes.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int formats_archive_detect(const void *front, size_t n) {
    static const struct {
        size_t at;
        const char *bytes;
        size_t size;
    } kinds[] = {{257, "ustar", 5},         {0, "PK\3\4", 4}, {0, "PK\5\6", 4},
                 {0, "7z\xBC\xAF'\x1C", 6}, {1, "7zXZ", 4},   {0, "BZh", 3},
                 {0, "\x28\xB5\x2F\xFD", 4}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (n >= kinds[i].at + kinds[i].size &&
            !memcmp((const uint8_t *)front + kinds[i].at, kinds[i].bytes, kinds[i].size))
            return 1;
    return 0;
}

int formats_archive_name_is_safe(const char *name) {
    if (name[0] == '/' || !name[0]) return 0;
    for (const char *at = name; at;) {
        const size_t n = strcspn(at, "/");
        if (n == 2 && !strncmp(at, "..", 2)) return 0;
        at = at[n] ? at + n + 1 : NULL;
    }
    return 1;
}

#ifdef LATE_LIBRARY
#include <archive.h>
#include <archive_entry.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(archive_read_new) ONE(archive_read_free) ONE(archive_error_string) \
    ONE(archive_read_support_filter_gzip) ONE(archive_read_support_filter_bzip2) \
    ONE(archive_read_support_filter_xz) ONE(archive_read_support_filter_zstd) \
    ONE(archive_read_support_format_tar) ONE(archive_read_support_format_zip) \
    ONE(archive_read_support_format_7zip) \
    ONE(archive_read_set_read_callback) ONE(archive_read_set_seek_callback) \
    ONE(archive_read_set_callback_data) ONE(archive_read_open1) ONE(archive_read_next_header) \
    ONE(archive_read_data) ONE(archive_filter_bytes) ONE(archive_entry_pathname) \
    ONE(archive_entry_filetype) ONE(archive_entry_hardlink) ONE(archive_entry_size) \
    ONE(archive_entry_is_data_encrypted) ONE(archive_entry_pathname_utf8) \
    ONE(archive_entry_sparse_count) ONE(archive_filter_count) ONE(archive_entry_mtime) \
    ONE(archive_entry_mtime_nsec) ONE(archive_entry_mtime_is_set)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);

enum { BLOCK = 1 << 16 };

struct formats_archive {
    struct archive *file;
    /* Names in UTF-8 are converted to the locale of the thread, which is to be one of UTF-8: in
     * others they are lost. 0: there is none. */
    locale_t utf8;
    int descriptor, is_seekable;
    const uint8_t *front; /* bytes that were read before; [front_size], until they are passed on */
    size_t front_size;
    uint64_t size;     /* of the file; 0: of a pipe, not known */
    uint64_t unpacked; /* bytes of members that were read so far */
    uint64_t claimed;  /* bytes of members in a packed tar, as their headers say */
    uint8_t block[BLOCK];
    uint8_t first[512]; /* a copy of the caller's front */
};

/* --- the file as libarchive reads it --- */

static la_ssize_t input_read(struct archive *file, void *user, const void **bytes) {
    formats_archive *a = user;
    (void)file;
    if (a->front_size) {
        const size_t n = a->front_size;
        *bytes = a->front;
        a->front_size = 0;
        return (la_ssize_t)n;
    }
    *bytes = a->block;
    return read(a->descriptor, a->block, BLOCK);
}

static la_int64_t input_seek(struct archive *file, void *user, la_int64_t offset, int whence) {
    const formats_archive *a = user;
    (void)file;
    const off_t at = lseek(a->descriptor, offset, whence);
    return at < 0 ? ARCHIVE_FATAL : at;
}

/* --- errors --- */

static taper_status fail(const formats_archive *a, taper_error *error) {
    const char *why = lib.archive_error_string(a->file);
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the archive is damaged or of a kind that is not read (%.120s); fetch it "
                        "anew, or unpack it "
                        "first",
                        why ? why : "libarchive does not say which");
}

static taper_status check_size(const formats_archive *a, taper_error *error) {
    const uint64_t so_far = (uint64_t)lib.archive_filter_bytes(a->file, -1);
    const uint64_t tar = (uint64_t)lib.archive_filter_bytes(a->file, 0); /* with what was skipped */
    const uint64_t packed = formats_larger(so_far, a->size);
    const uint64_t most = packed * FORMATS_ARCHIVE_RATIO + FORMATS_ARCHIVE_FREE;
    if (a->unpacked <= most && tar <= most && (!a->size || a->claimed <= most)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_LIMIT,
                        "%llu bytes of the archive unpack to more than %llu, which no archive of "
                        "images does: unpack it first, and name the folder",
                        (unsigned long long)packed, (unsigned long long)most);
}

/* --- reading --- */

static int set_up(formats_archive *a) {
    struct archive *f = a->file;
    lib.archive_read_support_filter_gzip(f);
    lib.archive_read_support_filter_bzip2(f);
    lib.archive_read_support_filter_xz(f);
    lib.archive_read_support_filter_zstd(f);
    lib.archive_read_support_format_tar(f);
    lib.archive_read_support_format_zip(f);
    lib.archive_read_support_format_7zip(f);
    lib.archive_read_set_read_callback(f, input_read);
    if (a->is_seekable) lib.archive_read_set_seek_callback(f, input_seek);
    lib.archive_read_set_callback_data(f, a);
    return lib.archive_read_open1(f);
}

taper_status formats_archive_open(formats_archive **out, int descriptor, const void *front,
                                  size_t n, taper_error *error) {
    taper_error why = {.status = TAPER_OK};
    *out = NULL;
    if (formats_late_library_load(&lib_library, &why) != TAPER_OK)
        return formats_fail(error, why.status, "archives are not read: %.200s", why.text);
    formats_archive *a = calloc(1, sizeof *a);
    if (a) a->file = lib.archive_read_new();
    if (!a || !a->file) {
        free(a);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read an archive");
    }
    a->descriptor = descriptor;
    a->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    const off_t end = lseek(descriptor, 0, SEEK_END);
    a->is_seekable = end >= 0 && lseek(descriptor, 0, SEEK_SET) == 0;
    a->size = a->is_seekable ? (uint64_t)end : 0;
    a->front = a->first;
    a->front_size = a->is_seekable ? 0 : formats_smaller(n, sizeof a->first);
    memcpy(a->first, front, a->front_size);
    if (set_up(a) < ARCHIVE_WARN) {
        const taper_status status =
            formats_fail(error, TAPER_ERR_CORRUPT,
                         "no archive that can be read is in it; fetch it anew, or unpack it first");
        formats_archive_close(a);
        return status;
    }
    *out = a;
    return TAPER_OK;
}

void formats_archive_close(formats_archive *a) {
    if (!a) return;
    lib.archive_read_free(a->file);
    if (a->utf8) freelocale(a->utf8);
    free(a);
}

static formats_member_kind kind_of(struct archive_entry *entry) {
    if (lib.archive_entry_hardlink(entry) || lib.archive_entry_filetype(entry) == AE_IFLNK)
        return FORMATS_MEMBER_LINK;
    if (lib.archive_entry_filetype(entry) == AE_IFDIR) return FORMATS_MEMBER_FOLDER;
    return lib.archive_entry_filetype(entry) == AE_IFREG ? FORMATS_MEMBER_FILE
                                                         : FORMATS_MEMBER_OTHER;
}

static void read_time(struct archive_entry *entry, formats_member *out) {
    const int64_t second = 1000000000, time = lib.archive_entry_mtime(entry);
    if (!lib.archive_entry_mtime_is_set(entry)) return;
    if (time > INT64_MAX / second - 1 || time < INT64_MIN / second + 1) return;
    out->has_modified = 1;
    out->modified_ns = time * second + lib.archive_entry_mtime_nsec(entry);
}

taper_status formats_archive_next(formats_archive *a, formats_member *out, taper_error *error) {
    struct archive_entry *entry;
    *out = (formats_member){.kind = FORMATS_MEMBER_OTHER};
    TAPER_TRY(check_size(a, error));
    const locale_t before = a->utf8 ? uselocale(a->utf8) : (locale_t)0;
    const int code = lib.archive_read_next_header(a->file, &entry);
    if (code >= ARCHIVE_WARN && code != ARCHIVE_EOF) {
        out->name = lib.archive_entry_pathname(entry);
        if (!out->name) out->name = lib.archive_entry_pathname_utf8(entry);
        if (!out->name) out->name = "";
    }
    if (a->utf8) uselocale(before);
    if (code == ARCHIVE_EOF) return TAPER_OK;
    if (code < ARCHIVE_WARN) return fail(a, error);
    if (lib.archive_entry_is_data_encrypted(entry))
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "the archive is encrypted: unpack it first, and name the folder");
    const int64_t size = lib.archive_entry_size(entry);
    out->kind = kind_of(entry);
    read_time(entry, out);
    out->size = size > 0 ? (uint64_t)size : 0;
    if (lib.archive_filter_count(a->file) > 1 && !lib.archive_entry_sparse_count(entry) &&
        a->claimed + out->size >= out->size)
        a->claimed += out->size; /* skipping it would unpack it */
    return check_size(a, error);
}

taper_status formats_archive_read(formats_archive *a, void *to, size_t n, size_t *got,
                                  taper_error *error) {
    *got = 0;
    while (*got < n) {
        const la_ssize_t more = lib.archive_read_data(a->file, (uint8_t *)to + *got, n - *got);
        if (more < 0) return fail(a, error);
        if (!more) break;
        *got += (size_t)more;
        a->unpacked += (uint64_t)more;
    }
    return check_size(a, error);
}
#else
taper_status formats_archive_open(formats_archive **out, int descriptor, const void *front,
                                  size_t n, taper_error *error) {
    *out = NULL;
    (void)descriptor, (void)front, (void)n;
    return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                        "archives are not read, because taper was built without libarchive-dev: "
                        "install it and build taper anew");
}

void formats_archive_close(formats_archive *a) { (void)a; }

taper_status formats_archive_next(formats_archive *a, formats_member *out, taper_error *error) {
    (void)a, (void)error;
    *out = (formats_member){NULL, FORMATS_MEMBER_OTHER, 0};
    return TAPER_OK;
}

taper_status formats_archive_read(formats_archive *a, void *to, size_t n, size_t *got,
                                  taper_error *error) {
    (void)a, (void)to, (void)n, (void)error;
    *got = 0;
    return TAPER_OK;
}
#endif
