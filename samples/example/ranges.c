/* ranges.c -- one image out of a .taper file that lies in another process's memory, by ranges:
 * `ranges CONTAINER [IMAGE [LAYERS]]`. A child holds the file; the parent asks the decoder which
 * bytes of it the image wants (of its first LAYERS layers), fetches those alone, and tells how many
 * they were. Linux lets it read them straight out of the child's memory; where that is refused it
 * asks through a pipe. A database or HTTP in place of `fetch` is all that another reader changes.
 * Outside this tree: #include <taper.h>, cc ranges.c -ltaper */
#define _GNU_SOURCE /* process_vm_readv */
#include "codec/taper.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNITS = 4 }; /* to print */

/* The process that holds the file. */
typedef struct holder {
    pid_t pid;
    unsigned char *bytes; /* an address of its memory */
    size_t size;
    int ask, answer; /* pipes */
    int refused;     /* its memory cannot be read from here */
} holder;

static int all(ssize_t (*move)(int, void *, size_t), int pipe, void *bytes, size_t n) {
    unsigned char *at = bytes;
    for (ssize_t moved; n; at += moved, n -= (size_t)moved)
        if ((moved = move(pipe, at, n)) <= 0) return 0;
    return 1;
}
static ssize_t put(int pipe, void *bytes, size_t n) { return write(pipe, bytes, n); }

/* The child: read the file, say where it is, then send what is asked for. Never returns. */
static void hold(const char *path, int asked, int answer) {
    holder h = {.size = 0};
    taper_range range;
    FILE *f = fopen(path, "rb");
    if (f && fseek(f, 0, SEEK_END) == 0) h.size = (size_t)ftell(f), rewind(f);
    h.bytes = malloc(h.size + 1);
    if (!f || !h.bytes || fread(h.bytes, 1, h.size, f) != h.size) h.size = 0;
    if (!all(put, answer, &h, sizeof h)) _exit(1);
    while (all(read, asked, &range, sizeof range))
        if (!all(put, answer, h.bytes + range.offset, (size_t)range.size)) break;
    _exit(0);
}

static int begin(holder *h, const char *path) {
    int asked[2], answer[2];
    if (pipe(asked) || pipe(answer)) return 0;
    pid_t pid = fork();
    if (pid < 0) return 0;
    if (pid == 0) {
        close(asked[1]), close(answer[0]);
        hold(path, asked[0], answer[1]);
    }
    close(asked[0]), close(answer[1]);
    if (!all(read, answer[0], h, sizeof *h)) return 0;
    h->pid = pid, h->ask = asked[1], h->answer = answer[0];
    return h->size > 0;
}

static int fetch(holder *h, taper_range range, unsigned char *to) {
    struct iovec here = {.iov_base = to, .iov_len = (size_t)range.size};
    struct iovec there = {.iov_base = h->bytes + range.offset, .iov_len = here.iov_len};
    if (range.offset > h->size || range.size > h->size - range.offset) return 0;
    if (!h->refused && process_vm_readv(h->pid, &here, 1, &there, 1, 0) == (ssize_t)range.size)
        return 1;
    h->refused = 1;
    return all(put, h->ask, &range, sizeof range) && all(read, h->answer, to, here.iov_len);
}

/* Fetch a range and hand it on. */
static taper_status supply(taper_decoder *decoder, holder *h, taper_range range,
                           taper_error *error) {
    unsigned char *bytes = malloc((size_t)range.size);
    taper_status status = TAPER_ERR_IO;
    snprintf(error->text, sizeof error->text, "the file ends too early");
    if (bytes && fetch(h, range, bytes))
        status = taper_decoder_supply(decoder, range.offset, bytes, (size_t)range.size, error);
    free(bytes);
    return status;
}

/* Have all that the image wants as from a file cut to `cut` bytes; *n: how many bytes that was. */
static taper_status fetch_wanted(taper_decoder *decoder, holder *h, uint64_t i, uint64_t cut,
                                 uint64_t *n, taper_error *error) {
    taper_status status;
    taper_range range;
    size_t wanted;
    *n = 0;
    while (!(status = taper_decoder_plan(decoder, i, cut, &range, 1, &wanted, error)) && wanted) {
        if ((status = supply(decoder, h, range, error))) break;
        *n += range.size;
    }
    return status;
}

/* Pixels, and the first units of the first window's code after so many passes. */
static taper_status show(taper_decoder *decoder, uint64_t i, uint32_t passes,
                         taper_completeness *done, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    taper_status status =
        taper_container_get_image(taper_decoder_container(decoder), i, &info, NULL);
    if (status) return status;
    taper_image image = {.pixels = malloc((size_t)info.bytes)};
    float *code = malloc((size_t)info.columns * info.rows * UNITS * sizeof *code);
    snprintf(error->text, sizeof error->text, "no memory for the image");
    status = image.pixels && code ? TAPER_OK : TAPER_ERR_NOMEM;
    if (!status) status = taper_decoder_codes(decoder, i, UNITS, passes, code, NULL, NULL, error);
    if (!status) status = taper_decoder_render(decoder, i, &image, done, error);
    if (!status)
        printf("%s: %u x %u, pass %u of %u%s; code %.1f %.1f %.1f %.1f ..\n",
               info.name ? info.name : "one", info.width, info.height, done->passes,
               done->passes_in_file, done->complete ? ", complete" : "", code[0], code[1], code[2],
               code[3]);
    free(image.pixels), free(code);
    return status;
}

/* The front matter comes in three ranges, the last of them large: where a range costs a round trip,
 * supply some kilobytes of the file's start at once. Then the directory says where layers end. */
static taper_status read_image(taper_decoder *decoder, holder *h, uint64_t i, uint32_t layers,
                               taper_error *error) {
    uint64_t front, data, cut = UINT64_MAX;
    uint32_t passes = UINT32_MAX;
    taper_container_info info = {.size = sizeof info};
    taper_completeness done;
    taper_status status = fetch_wanted(decoder, h, i, 0, &front, error);
    if (!status) status = taper_container_get_info(taper_decoder_container(decoder), &info, NULL);
    if (!status && layers > 0 && layers < info.layers)
        status = taper_container_layer(taper_decoder_container(decoder), i, layers - 1, &cut,
                                       &passes, NULL);
    if (!status) status = fetch_wanted(decoder, h, i, cut, &data, error);
    if (!status) status = show(decoder, i, passes, &done, error);
    if (!status)
        printf("read by %s: front matter %llu bytes, data %llu, the image's chunks %llu\n",
               h->refused ? "pipe" : "process_vm_readv", (unsigned long long)front,
               (unsigned long long)data, (unsigned long long)done.bytes);
    return status;
}

int main(int argc, char **argv) {
    holder h = {.pid = -1};
    taper_error error = {.status = TAPER_ERR_IO,
                         .text = "usage: ranges CONTAINER [IMAGE [LAYERS]]"};
    uint64_t i = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    uint32_t layers = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0; /* 0: all */
    taper_decoder *decoder = NULL;
    taper_status status = argc > 1 && begin(&h, argv[1]) ? TAPER_OK : TAPER_ERR_IO;
    if (!status) /* NULL: the container carries its model, or it ships */
        status = taper_decoder_new_streaming(&decoder, NULL, &error);
    if (!status) status = read_image(decoder, &h, i, layers, &error);
    if (status) fprintf(stderr, "ranges: %s\n", error.text);
    taper_decoder_free(decoder);
    if (h.pid > 0) close(h.ask), close(h.answer), waitpid(h.pid, NULL, 0);
    return status ? 1 : 0;
}
