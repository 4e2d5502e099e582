/* decode_progressive.c -- decodes bytes while they arrive, and improves the files.
 *
 * After each piece of input the images with new data are rendered again. The time between
 * renderings is at least that of the last rendering, and at least a third of a second. Each file is
 * replaced in one step, so that it is always a complete picture. */
#include "cli/common/progress.h"
#include "cli/decoding.h"
#include "cli/picture_files.h"
#include "cli/reach.h"
#include "formats/file.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16, REDRAW_MS = 333 };

typedef struct group_rendered {
    uint64_t bytes, round; /* bytes of data in the files; number of the last rendering, 0: none */
    uint32_t stages;       /* of the model, in the files */
    bool grown, again;     /* new bytes since then; files exist */
} group_rendered;

typedef struct arrival {
    const cli_decode_request *q;
    taper_decoder *decoder;
    taper_container_info info; /* valid when ready */
    bool ready;                /* the front matter has arrived and the plan is made */
    bool dirty;                /* bytes have arrived since the last rendering */
    cli_picture_plan plan;
    group_rendered *group; /* [groups] */
    uint64_t round;        /* number of renderings begun */
    uint64_t arrived;
    uint32_t passes;     /* passes that all images of the last rendering have */
    uint64_t damaged;    /* number of images in the last rendering */
    int64_t next_render; /* ms */
    cli_canvas canvas;
    taper_error failure; /* input error; earlier bytes are still rendered */
} arrival;

static int64_t now_ms(void) { return cli_now_ns() / 1000000; }

/* --- rendering --- */

static int write_picture(arrival *a, uint64_t k, bool again) {
    int code = cli_picture_put(&a->plan, a->q, k, &a->canvas.image, again || a->q->common->force);
    return code == CLI_SOME_FAILED ? CLI_DONE : code; /* a refused name does not end the work */
}

/* Render the images whose group has new data since the last time; skip the others. The images of a
 * group need not be consecutive. */
static int render_images(arrival *a) {
    a->round++;
    for (uint64_t k = 0; k < a->plan.count; k++) {
        taper_error error = {0};
        taper_image_info info = {.size = sizeof info};
        taper_completeness done = {0};
        uint64_t i = cli_picture_plan_image(&a->plan, k);
        taper_container_get_image(taper_decoder_container(a->decoder), i, &info, NULL);
        group_rendered *group = &a->group[info.group];
        bool first = group->round != a->round;
        if (!first && !group->grown) continue;
        const cli_view view = {a->q->scale, a->q->crop};
        taper_status status = cli_canvas_render(&a->canvas, a->decoder, i, &view, &done, &error);
        if (status != TAPER_OK && status != TAPER_ERR_CORRUPT)
            return cli_fail("decode", a->q->input, status, &error);
        a->damaged += status == TAPER_ERR_CORRUPT;
        if (done.passes < a->passes) a->passes = done.passes;
        if (first) {
            group->again = group->round > 0;
            group->grown =
                !group->again || group->bytes != done.bytes || group->stages != done.stages;
            group->bytes = done.bytes;
            group->stages = done.stages;
            group->round = a->round;
        }
        int code = group->grown ? write_picture(a, k, group->again) : CLI_DONE;
        if (code != CLI_DONE) return code;
    }
    return CLI_DONE;
}

static int render(arrival *a) {
    int64_t start = now_ms();
    a->passes = a->info.passes;
    a->damaged = 0;
    a->dirty = false;
    int code = render_images(a);
    int64_t now = now_ms(), took = now - start;
    a->next_render = now + (took > REDRAW_MS ? took : REDRAW_MS);
    char passes[48];
    bool is_whole = a->arrived >= a->info.file_bytes && !a->damaged;
    cli_passes_words(a->passes, is_whole ? a->passes : a->info.passes, passes);
    if (code == CLI_DONE)
        cli_note(a->q->common, "decode", "%llu of %llu bytes, %.1f %%: %s",
                 (unsigned long long)a->arrived, (unsigned long long)a->info.file_bytes,
                 (double)a->arrived * 100 / (double)a->info.file_bytes, passes);
    return code;
}

/* --- arriving --- */

static void take(arrival *a, const void *bytes, size_t n) {
    a->arrived += n;
    taper_decoder_push(a->decoder, bytes, n, &a->failure);
}

/* The front matter is complete: name the files. */
static int get_ready(arrival *a) {
    if (a->ready ||
        taper_container_get_info(taper_decoder_container(a->decoder), &a->info, NULL) != TAPER_OK)
        return CLI_DONE;
    a->group = calloc(a->info.groups, sizeof *a->group);
    if (!a->group) return cli_fail("decode", a->q->input, TAPER_ERR_NOMEM, NULL);
    const int code = cli_picture_plan_make(&a->plan, a->q, taper_decoder_container(a->decoder));
    a->ready = a->dirty = code == CLI_DONE;
    return code;
}

/* Wait for bytes, at most until the next rendering is due. 1: read; 0: render; -1: failed. */
static int wait_for_bytes(const arrival *a, int descriptor) {
    struct pollfd input = {.fd = descriptor, .events = POLLIN};
    int timeout = -1;
    if (a->dirty) {
        int64_t left = a->next_render - now_ms();
        timeout = left > 0 ? (int)left : 0;
    }
    int ready = poll(&input, 1, timeout);
    return ready < 0 && errno == EINTR ? 0 : ready;
}

static int receive(arrival *a, int descriptor) {
    uint8_t *piece = malloc(PIECE);
    int code = piece ? CLI_DONE : cli_fail("decode", a->q->input, TAPER_ERR_NOMEM, NULL);
    while (code == CLI_DONE && a->failure.status == TAPER_OK) {
        ssize_t got = -1;
        errno = EINTR;
        if (wait_for_bytes(a, descriptor) != 0) got = read(descriptor, piece, PIECE);
        if (got == 0) break;
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            formats_fail_errno(&a->failure, errno, "read");
            break;
        }
        if (got > 0) {
            take(a, piece, (size_t)got);
            a->dirty = a->ready;
            code = get_ready(a);
        }
        if (code == CLI_DONE && a->dirty && now_ms() >= a->next_render) code = render(a);
    }
    free(piece);
    return code;
}

/* The same from a URL. */
static int receive_url(arrival *a) {
    cli_stream stream;
    uint8_t *piece = malloc(PIECE);
    int code = piece ? cli_stream_open(&stream, "decode", a->q->input)
                     : cli_fail("decode", a->q->input, TAPER_ERR_NOMEM, NULL);
    if (code != CLI_DONE) {
        free(piece);
        return code;
    }
    const taper_source source = stream.source;
    remote_expect_end(stream.remote, source.size);
    while (code == CLI_DONE && a->failure.status == TAPER_OK && a->arrived < source.size) {
        const uint64_t left = source.size - a->arrived;
        const size_t n = left < PIECE ? (size_t)left : PIECE;
        if (formats_source_read(&source, a->arrived, piece, n, &a->failure) != TAPER_OK) break;
        take(a, piece, n);
        a->dirty = a->ready;
        code = get_ready(a);
        if (code == CLI_DONE && a->dirty && now_ms() >= a->next_render) code = render(a);
    }
    cli_stream_close(&stream);
    free(piece);
    return code;
}

/* The input has ended: render for the last time and print messages. */
static int finish(arrival *a) {
    const char *input = a->q->input;
    if (a->failure.status != TAPER_OK && !a->ready)
        return cli_fail("decode", input, a->failure.status, &a->failure);
    if (!a->ready) {
        cli_error("decode", input, "incomplete header, need %llu more bytes; send more of the file",
                  (unsigned long long)taper_decoder_bytes_needed(a->decoder));
        return CLI_CORRUPT;
    }
    int code = a->dirty ? render(a) : CLI_DONE;
    cli_pictures_sync();
    if (code != CLI_DONE) return code;
    cli_reach_report(a->q->common, taper_decoder_container(a->decoder), a->arrived);
    if (a->failure.status != TAPER_OK)
        return cli_fail("decode", input, a->failure.status, &a->failure);
    if (a->damaged) {
        cli_error("decode", input,
                  "damaged: %llu image%s lack%s the data after a failed checksum; fetch the file "
                  "again",
                  (unsigned long long)a->damaged, formats_plural(a->damaged, "s"),
                  formats_singular(a->damaged));
        return CLI_CORRUPT;
    }
    if (cli_pictures_refused(&a->plan, a->q)) return CLI_SOME_FAILED;
    const taper_model_info model =
        cli_model_info(taper_container_model(taper_decoder_container(a->decoder)));
    const bool is_whole = a->arrived >= a->info.file_bytes && model.stages_known == model.stages;
    return a->q->strict && !is_whole ? CLI_INCOMPLETE : CLI_DONE;
}

int cli_decode_progressive(const cli_decode_request *q) {
    const taper_open_options options = {
        .size = sizeof options, .model = q->model, .limits = &q->limits};
    arrival a = {.q = q, .info = {.size = sizeof a.info}, .plan = {.folder = -1}};
    taper_error error = {0};
    const bool is_url = remote_is_url(q->input);
    int descriptor =
        strcmp(q->input, "-") && !is_url ? open(q->input, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (descriptor < 0)
        return cli_fail("decode", q->input, formats_fail_errno(&error, errno, "open"), &error);
    taper_status status = taper_decoder_new_streaming(&a.decoder, &options, &error);
    if (status == TAPER_OK) status = taper_decoder_set_scale(a.decoder, q->passes_scale, &error);
    int code = status != TAPER_OK ? cli_fail("decode", q->input, status, &error)
               : is_url           ? receive_url(&a)
                                  : receive(&a, descriptor);
    if (code == CLI_DONE) code = finish(&a);
    if (descriptor != STDIN_FILENO) close(descriptor);
    taper_decoder_free(a.decoder);
    cli_picture_plan_free(&a.plan);
    cli_canvas_free(&a.canvas);
    free(a.group);
    return code;
}
