/* fuzz_imageset.c -- any bytes as a folder of files that are opened as a set: what each file is,
 * lists of files, labels, names and the images.
 *
 * The first byte says how (enum how). Then come things in the folder: a byte whose upper two bits
 * are the kind (enum kind) and whose lower six the length of the name, the name, and, of a file,
 * two bytes, the lower one first, for its length, and its bytes; of a link as many for where it
 * leads. A file "labels" is the label file, a file "list" the list of files; these two stand beside
 * the folder "set". Nothing outside of a folder of its own below TMPDIR is made, read or removed,
 * but for /dev/null. */
#include "formats/front.h"
#include "formats/image.h"
#include "formats/imageset/image_names.h"
#include "formats/imageset/imageset.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum how {
    NAME_FILES = 1, /* each file is an input, else the folder is */
    NULL_LIST = 2,  /* the list's names end in NUL bytes */
    FOLLOW_LINKS = 4,
    FEW_IMAGES = 8, /* limits that are passed at once */
    LITTLE_MEMORY = 16,
    STREAM = 32, /* the first file is standard input, too */
    LIST_IS_STREAM = 64,
    TWICE = 128 /* the folder is named a second time */
};
enum kind { A_FILE, A_LINK, A_DEVICE_LINK, A_LINK_UP };
enum { MOST_THINGS = 24, MOST_MADE = 200, MOST_BYTES = 1 << 16, MOST_INPUTS = MOST_THINGS + 4 };

typedef struct scene {
    char base[300];
    char *made[MOST_MADE]; /* to be removed again, the last one first */
    size_t n_made;
    char *input[MOST_INPUTS];
    size_t inputs;
    char *labels, *list; /* NULL: none */
    size_t skipped;
} scene;

static void must(int holds) {
    if (!holds) abort();
}

/* --- the folder ------------------------------------------------------------------------- */

static char base[300];

static void remove_base(void) { rmdir(base); }

static void make_base(void) {
    const char *folder = getenv("TMPDIR");
    if (base[0]) return;
    snprintf(base, sizeof base, "%.200s/taper-fuzz-XXXXXX", folder && *folder ? folder : "/tmp");
    must(mkdtemp(base) != NULL);
    atexit(remove_base);
}

static char *join(const char *a, const char *b, const char *c) {
    const size_t room = strlen(a) + strlen(b) + strlen(c) + 1;
    char *path = malloc(room);
    must(path != NULL);
    snprintf(path, room, "%s%s%s", a, b, c);
    return path;
}

/* Takes the path. */
static void note_made(scene *s, char *path) {
    must(s->n_made < MOST_MADE);
    s->made[s->n_made++] = path;
}

/* All folders before the last part of a path below the base. 0: a link or a file is in the way. */
static int make_folders(scene *s, char *path) {
    struct stat st;
    int is_there = 1;
    for (char *slash = strchr(path + strlen(s->base) + 1, '/'); slash && is_there;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (s->n_made + 2 < MOST_MADE && mkdir(path, 0700) == 0) note_made(s, join(path, "", ""));
        is_there = lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
        *slash = '/';
    }
    return is_there;
}

static int write_file(const char *path, const uint8_t *bytes, size_t n) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (descriptor < 0) return 0;
    must(write(descriptor, bytes, n) == (ssize_t)n);
    close(descriptor);
    return 1;
}

/* A path that leads nowhere else: relative, without "..". Zeroes end it, or are taken out. */
static int is_inside(const char *path) { return *path && *path != '/' && !strstr(path, ".."); }

static int make_link(const char *path, enum kind kind, const uint8_t *bytes, size_t n) {
    if (kind == A_DEVICE_LINK) return symlink("/dev/null", path) == 0;
    if (kind == A_LINK_UP) return symlink("..", path) == 0;
    char *to = strndup((const char *)bytes, n);
    must(to != NULL);
    const int is_made = is_inside(to) && symlink(to, path) == 0;
    free(to);
    return is_made;
}

/* Lines of a list lead into the base only. */
static void tame_list(uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const int is_start = !i || bytes[i - 1] == '\n' || bytes[i - 1] == 0;
        if ((is_start && bytes[i] == '/') || (i && bytes[i] == '.' && bytes[i - 1] == '.'))
            bytes[i] = '_';
    }
}

static void make_thing(scene *s, const char *name, enum kind kind, const uint8_t *bytes, size_t n) {
    const int is_labels = !strcmp(name, "labels"), is_list = !strcmp(name, "list");
    if (!is_inside(name) || s->n_made + 60 > MOST_MADE) return;
    char *path = join(s->base, is_labels || is_list ? "/" : "/set/", name);
    uint8_t *copy = malloc(n + 1);
    must(copy != NULL);
    if (n) memcpy(copy, bytes, n);
    if (is_list) tame_list(copy, n);
    int is_made = make_folders(s, path);
    if (is_made)
        is_made = kind == A_FILE || is_labels || is_list ? write_file(path, copy, n)
                                                         : make_link(path, kind, copy, n);
    free(copy);
    if (!is_made) {
        free(path);
        return;
    }
    note_made(s, path);
    if (is_labels)
        s->labels = path;
    else if (is_list)
        s->list = path;
    else if (s->inputs < MOST_THINGS)
        s->input[s->inputs++] = path;
}

static void make_things(scene *s, const uint8_t *bytes, size_t n) {
    char name[64];
    for (size_t at = 0, things = 0; at < n && things < MOST_THINGS; things++) {
        const enum kind kind = bytes[at] >> 6;
        const size_t length = bytes[at++] & 63;
        if (n - at < length + 2) return;
        memcpy(name, bytes + at, length);
        name[length] = 0;
        at += length;
        size_t size = bytes[at] | (size_t)bytes[at + 1] << 8;
        at += 2;
        if (size > n - at) size = n - at;
        make_thing(s, name, kind, bytes + at, size);
        at += size;
    }
}

static void remove_things(scene *s) {
    while (s->n_made) {
        char *path = s->made[--s->n_made];
        must(unlink(path) == 0 || rmdir(path) == 0);
        free(path);
    }
}

/* --- the set ---------------------------------------------------------------------------- */

static void on_skip(void *user, formats_skip what, const char *path, const taper_error *why) {
    scene *s = user;
    must(what <= FORMATS_SKIP_HIDDEN && path && why->status && why->text[0]);
    s->skipped++;
}

static void look_at_image(const formats_imageset *set, size_t i, const taper_limits *limits) {
    const char *name = formats_imageset_name(set, i);
    const int32_t label = formats_imageset_label(set, i);
    taper_image image;
    taper_error error = {.status = TAPER_OK};
    must(!name || (formats_name_is_legal(name) && !formats_imageset_part(set, i)));
    must(formats_imageset_path(set, i)[0]);
    must(label >= -1 && label < (int32_t)formats_imageset_class_count(set));
    for (size_t k = 0; name && k < i && k < 20; k++)
        must(!formats_imageset_name(set, k) || strcmp(name, formats_imageset_name(set, k)));
    const taper_status status = formats_imageset_read(set, i, &image, NULL, &error);
    must(status == error.status && (status == TAPER_OK) == (image.pixels != NULL));
    must(status == TAPER_OK || error.text[0]);
    if (status == TAPER_OK)
        must(formats_image_is_legal(&image) &&
             (uint64_t)image.width * image.height <= limits->max_pixels);
    formats_image_free(&image);
}

/* What is counted is no more than there is, and has an example where it is not 0. */
static void look_at_counts(const formats_imageset *set) {
    typedef size_t count_fn(const formats_imageset *, const char **);
    static count_fn *const counts[] = {
        formats_imageset_profiles,        formats_imageset_orientations,
        formats_imageset_exifs,           formats_imageset_more_pictures,
        formats_imageset_prefixed,        formats_imageset_numbered,
        formats_imageset_unmatched_lines, formats_imageset_overridden_lines};
    const size_t classes = formats_imageset_class_count(set), n = formats_imageset_count(set);
    const char *first;
    taper_image image;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        must(!counts[c](set, &first) == !first);
    for (size_t k = 0; k < classes; k++) must(formats_imageset_class_name(set, k) != NULL);
    must(!formats_imageset_class_name(set, classes) && !formats_imageset_name(set, n));
    must(!formats_imageset_single_class(set) || !classes);
    must(formats_imageset_label(set, n) == -1 && !*formats_imageset_path(set, n));
    must(formats_imageset_read(set, n, &image, NULL, NULL) == TAPER_ERR_ARG);
}

/* A file as standard input, from its start. */
static void give_as_stream(const char *path) {
    const int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return;
    must(dup2(descriptor, STDIN_FILENO) == STDIN_FILENO);
    close(descriptor);
}

static void look_at(const formats_imageset *set, const taper_limits *limits) {
    for (size_t i = 0; i < formats_imageset_count(set) && i < 40; i++)
        look_at_image(set, i, limits);
    look_at_counts(set);
    must(formats_imageset_memory(set) <= limits->max_memory);
    must(formats_imageset_count(set) <= limits->max_images);
}

/* The inputs as `how` says; their number. */
static size_t name_inputs(const scene *s, uint8_t how, const char *folder, const char **path) {
    size_t n = 0;
    if (how & STREAM) {
        give_as_stream("/dev/null");
        if (s->inputs) give_as_stream(s->input[0]);
        path[n++] = "-";
    }
    for (size_t i = 0; how & NAME_FILES && i < s->inputs; i++) path[n++] = s->input[i];
    if (!(how & NAME_FILES) && !s->list) path[n++] = folder;
    if (how & TWICE) path[n++] = folder;
    return n;
}

/* In the base as the current folder, which lines of a list on standard input are relative to. */
static void open_set(scene *s, uint8_t how) {
    char *folder = join(s->base, "/", "set");
    const char *path[MOST_INPUTS];
    const size_t n = name_inputs(s, how, folder, path);
    const int list_is_stream = how & LIST_IS_STREAM && s->list, here = open(".", O_RDONLY);
    const taper_limits limits = {.size = sizeof(taper_limits),
                                 .max_pixels = 1 << 16,
                                 .max_images = how & FEW_IMAGES ? 3 : 200,
                                 .max_memory = how & LITTLE_MEMORY ? 1500 : 1 << 22};
    const formats_imageset_options options = {.filelist = list_is_stream ? "-" : s->list,
                                              .labels = s->labels,
                                              .limits = &limits,
                                              .follow_links = (how & FOLLOW_LINKS) != 0,
                                              .null_list = (how & NULL_LIST) != 0};
    formats_imageset *set;
    taper_error error = {.status = TAPER_OK};
    if (list_is_stream) give_as_stream(s->list);
    must(here >= 0 && chdir(s->base) == 0);
    const taper_status status = formats_imageset_open(&set, path, n, &options, on_skip, s, &error);
    must((status == TAPER_OK) == (set != NULL) && status == error.status);
    must(status == TAPER_OK || error.text[0]);
    if (set) look_at(set, &limits);
    formats_imageset_close(set);
    must(fchdir(here) == 0);
    close(here);
    free(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    scene s = {.n_made = 0};
    if (n < 1 || n > MOST_BYTES) return 0;
    make_base();
    snprintf(s.base, sizeof s.base, "%s", base);
    char *set = join(s.base, "/", "set");
    must(mkdir(set, 0700) == 0);
    note_made(&s, set);
    make_things(&s, bytes + 1, n - 1);
    open_set(&s, bytes[0]);
    remove_things(&s);
    return 0;
}
