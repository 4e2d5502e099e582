/* picture_metadata.c -- see picture_metadata.h. */
#include "cli/picture_metadata.h"
#include "formats/metadata/public_metadata.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

struct cli_picture_metadata {
    taper_metadata_reader *reader;
    pthread_mutex_t lock;
    const char *input;
    bool is_told; /* that they are damaged */
};

static void tell(const char *input, const taper_error *why) {
    cli_warning("decode", input, "images are written without metadata: %s", why->text);
}

void cli_picture_metadata_open(cli_picture_metadata **out, const char *input,
                               const taper_container *container) {
    taper_container_info info = {.size = sizeof info};
    taper_error error = {0};
    *out = NULL;
    taper_container_get_info(container, &info, NULL);
    if (!info.metadata_bytes) return;
    cli_picture_metadata *m = calloc(1, sizeof *m);
    taper_status status =
        m ? taper_metadata_open(&m->reader, container, &error)
          : formats_fail(&error, TAPER_ERR_NOMEM, "no memory to read metadata of images");
    if (status != TAPER_OK) {
        tell(input, &error);
        free(m);
        return;
    }
    pthread_mutex_init(&m->lock, NULL);
    m->input = input;
    *out = m;
}

void cli_picture_metadata_free(cli_picture_metadata *m) {
    if (!m) return;
    taper_metadata_close(m->reader);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

void cli_picture_metadata_get(cli_picture_metadata *m, uint64_t i, formats_metadata *to) {
    taper_metadata found = {.size = sizeof found};
    taper_error error = {0};
    *to = (formats_metadata){0};
    if (!m) return;
    pthread_mutex_lock(&m->lock);
    taper_status status = taper_metadata_get(m->reader, i, &found, &error);
    if (status == TAPER_OK && !formats_metadata_copy(&found, to))
        status = formats_fail(&error, TAPER_ERR_NOMEM, "no memory for metadata of an image");
    if (status != TAPER_OK && !m->is_told) tell(m->input, &error);
    m->is_told |= status != TAPER_OK;
    pthread_mutex_unlock(&m->lock);
}

void cli_picture_set_time(int folder, const char *name, const formats_metadata *m) {
    const int64_t second = 1000000000, ns = m->modified_ns;
    if (!m->has_modified) return;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)(ns / second)}};
    times[1].tv_nsec = (long)(ns % second);
    if (times[1].tv_nsec < 0) times[1].tv_sec--, times[1].tv_nsec += (long)second;
    (void)utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW);
}
