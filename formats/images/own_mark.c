/* own_mark.c -- see own_mark.h. The hash covers all bytes except its own digits and, in a PNG, the
 * checksum of the chunk, which stands in the four bytes after them and is compared by itself. */
#define XXH_STATIC_LINKING_ONLY /* for a state that is not on the heap */
#include "formats/images/own_mark.h"
#include "formats/bytes.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

/* FRONT: bytes that are searched for a mark */
/* BACK: bytes at the end, where WebP and TIFF have theirs */
enum { BACK = 512 };
enum { FRONT = 128, DIGITS = 16, PIECE = 1 << 16, CHECKSUM = 4, TYPE_AND_KEY = 4 + 9 };

static int is_png(const uint8_t *bytes) { return memcmp(bytes, "\x89PNG", 4) == 0; }

/* Offset of the digits of the mark; 0: no mark. */
static size_t find_digits(const uint8_t *bytes, size_t n, const char *program) {
    const size_t name = strlen(program), room = n < FRONT ? n : FRONT;
    for (size_t at = 1; at + name + 1 + DIGITS + CHECKSUM <= room; at++)
        if (!memcmp(bytes + at, program, name) && bytes[at + name] == ' ') return at + name + 1;
    return 0;
}

/* Offset of the digits of a mark at the end of a file that is no PNG; 0: no mark. */
static size_t find_digits_behind(const uint8_t *bytes, size_t n, const char *program) {
    const size_t name = strlen(program);
    for (size_t at = 1; at + name + 1 + DIGITS <= n; at++)
        if (!memcmp(bytes + at, program, name) && bytes[at + name] == ' ') return at + name + 1;
    return 0;
}

static size_t end_of_mark(const uint8_t *bytes, size_t digits) {
    return digits + DIGITS + (is_png(bytes) ? CHECKSUM : 0);
}

/* The checksum of a PNG's chunk "tEXt" with the key "Software", from its type to the last digit. */
static void chunk_checksum(const uint8_t *bytes, size_t digits, const char *program,
                           uint8_t to[CHECKSUM]) {
    const size_t begin = digits - TYPE_AND_KEY - strlen(program) - 1;
    const uint32_t crc = (uint32_t)crc32(0, bytes + begin, (uInt)(digits + DIGITS - begin));
    for (int i = 0; i < CHECKSUM; i++) to[i] = (uint8_t)(crc >> (24 - 8 * i));
}

static void write_digits(char to[DIGITS + 1], uint64_t hash) {
    snprintf(to, DIGITS + 1, "%016llx", (unsigned long long)hash);
}

void formats_own_mark_set(uint8_t *bytes, size_t n, const char *program) {
    const size_t back = n > BACK ? n - BACK : 0;
    size_t at = find_digits(bytes, n, program);
    if (!at && !is_png(bytes)) at = find_digits_behind(bytes + back, n - back, program);
    if (at && !find_digits(bytes, n, program)) at += back;
    if (!at) return;
    char digits[DIGITS + 1];
    XXH3_state_t state;
    const size_t end = end_of_mark(bytes, at);
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, bytes, at);
    XXH3_64bits_update(&state, bytes + end, n - end);
    write_digits(digits, XXH3_64bits_digest(&state));
    memcpy(bytes + at, digits, DIGITS);
    if (is_png(bytes)) chunk_checksum(bytes, at, program, bytes + at + DIGITS);
}

/* Read up to PIECE bytes; returns their number, or -1 on failure. */
static ssize_t read_piece(int descriptor, uint8_t piece[PIECE]) {
    size_t n = 0;
    while (n < PIECE) {
        const ssize_t got = read(descriptor, piece + n, PIECE - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (!got) break;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

/* The mark of a file: its first bytes, where its digits begin, and what these have to be. */
typedef struct found_mark {
    uint8_t front[FRONT + CHECKSUM];
    size_t at; /* 0: there is no mark */
    char digits[DIGITS + 1];
} found_mark;

/* Read the file from its present position to its end. Returns 0 if that fails. */
static int find_mark(int descriptor, const char *program, found_mark *mark) {
    uint8_t piece[PIECE];
    XXH3_state_t state;
    ssize_t n = read_piece(descriptor, piece);
    mark->at = n > 0 ? find_digits(piece, (size_t)n, program) : 0;
    if (!mark->at) return n >= 0;
    const size_t end = end_of_mark(piece, mark->at);
    memcpy(mark->front, piece, end);
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, piece, mark->at);
    XXH3_64bits_update(&state, piece + end, (size_t)n - end);
    while (n == PIECE && (n = read_piece(descriptor, piece)) > 0)
        XXH3_64bits_update(&state, piece, (size_t)n);
    write_digits(mark->digits, XXH3_64bits_digest(&state));
    return n >= 0;
}

int formats_own_mark_set_in(int descriptor, const char *program) {
    found_mark mark;
    if (lseek(descriptor, 0, SEEK_SET) != 0 || !find_mark(descriptor, program, &mark)) return 0;
    if (!mark.at) return 1;
    const size_t n = end_of_mark(mark.front, mark.at) - mark.at;
    memcpy(mark.front + mark.at, mark.digits, DIGITS);
    if (is_png(mark.front))
        chunk_checksum(mark.front, mark.at, program, mark.front + mark.at + DIGITS);
    return pwrite(descriptor, mark.front + mark.at, n, (off_t)mark.at) == (ssize_t)n;
}

/* Hash the bytes from .. to of a file. Returns 0 if they cannot be read. */
static int hash_range(int descriptor, off_t from, off_t to, XXH3_state_t *state) {
    uint8_t piece[PIECE];
    while (from < to) {
        const size_t most = to - from < PIECE ? (size_t)(to - from) : PIECE;
        const ssize_t n = pread(descriptor, piece, most, from);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        XXH3_64bits_update(state, piece, (size_t)n);
        from += n;
    }
    return 1;
}

/* The same for a mark at the end of the file. */
static int holds_behind(int descriptor, const char *program) {
    uint8_t bytes[BACK];
    char digits[DIGITS + 1];
    XXH3_state_t state;
    const off_t size = lseek(descriptor, 0, SEEK_END), back = size > BACK ? size - BACK : 0;
    if (size <= 0 || pread(descriptor, bytes, (size_t)(size - back), back) != size - back) return 0;
    const size_t at = find_digits_behind(bytes, (size_t)(size - back), program);
    if (!at) return 0;
    XXH3_64bits_reset(&state);
    if (!hash_range(descriptor, 0, back + (off_t)at, &state) ||
        !hash_range(descriptor, back + (off_t)at + DIGITS, size, &state))
        return 0;
    write_digits(digits, XXH3_64bits_digest(&state));
    return !memcmp(bytes + at, digits, DIGITS);
}

int formats_own_mark_holds(int descriptor, const char *program) {
    found_mark mark;
    uint8_t checksum[CHECKSUM];
    if (!find_mark(descriptor, program, &mark)) return 0;
    if (!mark.at) return holds_behind(descriptor, program);
    if (is_png(mark.front)) {
        if (mark.at < TYPE_AND_KEY + strlen(program) + 1) return 0;
        chunk_checksum(mark.front, mark.at, program, checksum);
        if (memcmp(checksum, mark.front + mark.at + DIGITS, CHECKSUM) != 0) return 0;
    }
    return !memcmp(mark.front + mark.at, mark.digits, DIGITS);
}
