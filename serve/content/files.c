/* files.c -- see files.h. */
#include "serve/content/files.h"
#include "serve/request/media.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_UP_MS = 1000 };

struct serve_files {
    const serve_roots *roots;
    size_t most, n;
    pthread_mutex_t lock;
    serve_file *kept[]; /* [n], the last used first */
};

int64_t serve_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

serve_files *serve_files_open(const serve_roots *roots, size_t most) {
    serve_files *files = calloc(1, sizeof *files + most * sizeof *files->kept);
    if (!files) return NULL;
    files->roots = roots, files->most = most;
    pthread_mutex_init(&files->lock, NULL);
    return files;
}

void serve_files_close(serve_files *files) {
    if (!files) return;
    for (size_t i = 0; i < files->n; i++) serve_file_release(files->kept[i]);
    pthread_mutex_destroy(&files->lock);
    free(files);
}

void serve_file_hold(serve_file *file) { atomic_fetch_add(&file->users, 1); }

void serve_file_release(serve_file *file) {
    if (!file || atomic_fetch_sub(&file->users, 1) != 1) return;
    close(file->descriptor);
    free(file);
}

static int64_t modified_ns(const struct stat *st) {
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static serve_file *make(int descriptor, const char *path) {
    struct stat st;
    const size_t n = strlen(path) + 1;
    serve_file *file = calloc(1, sizeof *file + n);
    if (!file || fstat(descriptor, &st) != 0) {
        free(file);
        close(descriptor);
        return NULL;
    }
    atomic_init(&file->users, 1);
    file->descriptor = descriptor;
    file->device = (uint64_t)st.st_dev, file->inode = (uint64_t)st.st_ino;
    file->size = (uint64_t)st.st_size, file->modified_ns = modified_ns(&st);
    file->type = serve_media_type(path);
    if (!file->type) file->type = "application/octet-stream";
    snprintf(file->tag, sizeof file->tag, "\"%llx-%llx-%llx-%llx\"", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino, (unsigned long long)file->modified_ns,
             (unsigned long long)file->size);
    memcpy(file->path, path, n);
    return file;
}

static bool is_as_before(const serve_file *file) {
    struct stat st;
    return fstat(file->descriptor, &st) == 0 && st.st_nlink > 0 &&
           (uint64_t)st.st_size == file->size && modified_ns(&st) == file->modified_ns;
}

static void drop(serve_files *files, size_t i) {
    serve_file_release(files->kept[i]);
    memmove(files->kept + i, files->kept + i + 1, (--files->n - i) * sizeof *files->kept);
}

/* Keep the file at the front, in the place of one with the same path or of the last. */
static void keep(serve_files *files, serve_file *file) {
    serve_file_hold(file);
    if (files->n == files->most) drop(files, files->n - 1);
    memmove(files->kept + 1, files->kept, files->n++ * sizeof *files->kept);
    files->kept[0] = file;
}

static void to_front(serve_files *files, size_t i) {
    serve_file *file = files->kept[i];
    memmove(files->kept + 1, files->kept, i * sizeof *files->kept);
    files->kept[0] = file;
}

/* A container that grows keeps its length. */
static void inherit(serve_file *file, const serve_file *before) {
    if (before->inode == file->inode && before->device == file->device &&
        before->size <= file->size)
        atomic_store(&file->total, atomic_load(&before->total));
}

static serve_file *look_up(serve_files *files, const char *path, int64_t now, int *reason) {
    const int descriptor = serve_roots_find(files->roots, path);
    if (descriptor < 0) {
        *reason = errno;
        return NULL;
    }
    serve_file *file = make(descriptor, path);
    *reason = ENOMEM;
    if (file) file->looked_up_ms = now;
    return file;
}

static size_t position_of(const serve_files *files, const char *path) {
    size_t i = 0;
    while (i < files->n && strcmp(files->kept[i]->path, path) != 0) i++;
    return i;
}

serve_file *serve_files_get(serve_files *files, const char *path, int *reason) {
    const int64_t now = serve_now_ms();
    pthread_mutex_lock(&files->lock);
    const size_t at = position_of(files, path);
    serve_file *file = at < files->n ? files->kept[at] : NULL;
    if (file && is_as_before(file) && now - file->looked_up_ms < LOOK_UP_MS) {
        to_front(files, at);
        serve_file_hold(file);
    } else {
        serve_file *before = file;
        file = look_up(files, path, now, reason);
        const bool is_same = file && before && !strcmp(file->tag, before->tag);
        if (is_same) { /* keep the one that others share */
            serve_file_release(file);
            file = before;
            file->looked_up_ms = now;
            to_front(files, at);
            serve_file_hold(file);
        } else {
            if (file && before) inherit(file, before);
            if (before) drop(files, at);
            if (file) keep(files, file);
        }
    }
    pthread_mutex_unlock(&files->lock);
    return file;
}

int64_t serve_file_read(const serve_file *file, uint64_t offset, void *to, size_t n) {
    size_t done = 0;
    while (done < n) {
        const ssize_t got =
            pread(file->descriptor, (char *)to + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (int64_t)done;
}
