/* route.c -- see route.h. */
#include "serve/route.h"
#include "serve/request/media.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(serve_route *out, unsigned status, const char *text) {
    out->kind = SERVE_ROUTE_TEXT, out->status = status;
    snprintf(out->text, sizeof out->text, "%s", text);
}

static void lead_to(serve_route *out, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void lead_to(serve_route *out, unsigned status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(out->text, sizeof out->text, format, arguments);
    va_end(arguments);
    out->kind = SERVE_ROUTE_REDIRECT, out->status = status;
    if (n < 0 || (size_t)n >= sizeof out->text) say(out, 414, "the address is too long");
}

static void say_reason(serve_route *out, int reason) {
    if (reason == EACCES || reason == EPERM)
        say(out, 403, "the server may not read this file");
    else if (reason == EMFILE || reason == ENFILE || reason == ENOMEM)
        say(out, 503, "the server has no file descriptor left: try again");
    else
        say(out, 404, "there is nothing at this address");
}

/* --- folders and files --- */

static void folder(const serve_content *content, const char *path, serve_task *task,
                   serve_route *out) {
    int reason;
    char index[SERVE_PATH_BYTES + 16];
    snprintf(index, sizeof index, "%s%sindex.html", path, *path ? "/" : "");
    out->file = serve_files_get(content->files, index, &reason);
    if (out->file) {
        out->kind = SERVE_ROUTE_FILE;
        return;
    }
    out->kind = SERVE_ROUTE_TASK;
    task->kind = SERVE_TASK_FOLDER;
    memcpy(task->path, path, strlen(path) + 1);
}

static bool ends_in_index(const char *path, size_t *folder_size) {
    static const char name[] = "index.json";
    const size_t n = strlen(path), length = sizeof name - 1;
    if (n < length || strcmp(path + n - length, name) != 0) return false;
    if (n > length && path[n - length - 1] != '/') return false;
    *folder_size = n > length ? n - length - 1 : 0;
    return true;
}

static void file(const serve_content *content, const char *raw, size_t n, const char *path,
                 serve_task *task, serve_route *out) {
    int reason;
    size_t size;
    out->file = serve_files_get(content->files, path, &reason);
    if (out->file)
        out->kind = SERVE_ROUTE_FILE;
    else if (reason == EISDIR)
        lead_to(out, 301, "%.*s/", (int)n, raw);
    else if (reason == ENOENT && ends_in_index(path, &size)) {
        out->kind = SERVE_ROUTE_TASK;
        task->kind = SERVE_TASK_FOLDER_JSON;
        memcpy(task->path, path, size), task->path[size] = '\0';
    } else
        say_reason(out, reason);
}

/* --- in a container --- */

static bool ends_in(const char *text, const char *ending) {
    const size_t n = strlen(text), length = strlen(ending);
    return n > length && !strcmp(text + n - length, ending);
}

/* The container of a task, and what is asked of it. */
static bool open_container(const serve_content *content, const char *path, size_t n,
                           serve_task *task, serve_route *out) {
    int reason;
    memcpy(task->path, path, n), task->path[n] = '\0';
    out->file = serve_files_get(content->files, task->path, &reason);
    if (!out->file) say_reason(out, reason);
    return out->file != NULL;
}

static void within(const serve_content *content, const char *path, size_t n, serve_task *task,
                   serve_route *out) {
    const char *name = path[n] ? path + n + 1 : "";
    if (!open_container(content, path, n, task, out)) return;
    out->kind = SERVE_ROUTE_TASK;
    out->is_picture = ends_in(name, ".jpg") || ends_in(name, ".jpeg") || ends_in(name, ".png");
    memcpy(task->image, name, strlen(name) + 1);
    if (!*name)
        task->kind = SERVE_TASK_SET;
    else if (!strcmp(name, "index.json"))
        task->kind = SERVE_TASK_SET_JSON;
    else if (out->is_picture)
        task->kind = SERVE_TASK_PICTURE;
    else
        say(out, 404, "pictures end in .jpg or .png");
}

static void iiif(const serve_content *content, const char *raw, size_t n, const char *base,
                 serve_task *task, serve_route *out) {
    const char *why;
    const int status = serve_iiif_read(raw, n, &task->iiif, &why);
    if (status) {
        say(out, (unsigned)status, why);
        return;
    }
    const size_t set = serve_path_container(task->iiif.identifier);
    const char *name = task->iiif.identifier + set;
    if (!set || name[0] != '/') {
        say(out, 404, "an identifier is a container and an image: set.taper%2F1");
        return;
    }
    if (!open_container(content, task->iiif.identifier, set, task, out)) return;
    memcpy(task->image, name + 1, strlen(name));
    task->kind = SERVE_TASK_IIIF;
    out->kind = SERVE_ROUTE_TASK;
    out->is_picture = task->iiif.kind == SERVE_IIIF_PICTURE;
    if (task->iiif.kind == SERVE_IIIF_BASE)
        lead_to(out, 303, "%s/iiif/%.*s/info.json", base, (int)strcspn(raw, "/?"), raw);
}

void serve_route_find(const serve_content *content, const char *target, const char *base,
                      serve_task *task, serve_route *out) {
    char path[SERVE_PATH_BYTES];
    const size_t n = strcspn(target, "?");
    out->kind = SERVE_ROUTE_TEXT, out->file = NULL, out->is_picture = false, out->text[0] = '\0';
    task->image[0] = task->path[0] = '\0';
    const char *wrong = serve_query_read(target[n] ? target + n + 1 : NULL, &out->query);
    if (wrong) {
        say(out, 400, wrong);
        return;
    }
    task->query = out->query;
    if (n > 6 && !memcmp(target, "/iiif/", 6)) {
        iiif(content, target + 6, n - 6, base, task, out);
        return;
    }
    const serve_path_kind kind = serve_path_clean(target, n, path);
    if (kind == SERVE_PATH_IS_BAD) {
        say(out, 400, "the address is not legal");
        return;
    }
    if (kind == SERVE_PATH_IS_REFUSED) {
        say(out, 404, "there is nothing at this address");
        return;
    }
    const size_t set = serve_path_container(path);
    if (set && (path[set] || kind == SERVE_PATH_IS_FOLDER))
        within(content, path, set, task, out);
    else if (kind == SERVE_PATH_IS_FOLDER)
        folder(content, path, task, out);
    else
        file(content, target, n, path, task, out);
}
