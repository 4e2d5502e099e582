/* answer.h -- what a request gets that needs more than a file: a list, a picture, info.json. It may
 * take time, so that threads of the pool do it. */
#ifndef SERVE_CONTENT_ANSWER_H
#define SERVE_CONTENT_ANSWER_H
#include "serve/content/blob_cache.h"
#include "serve/content/picture.h"
#include "serve/request/query.h"

/* What is served, and from what. */
typedef struct serve_content {
    serve_roots *roots;
    serve_files *files;
    serve_sets *sets;
    serve_blob_cache *pictures;
    uint64_t most_area; /* pixels of the largest picture */
} serve_content;

typedef enum serve_task_kind {
    SERVE_TASK_FOLDER,
    SERVE_TASK_FOLDER_JSON,
    SERVE_TASK_SET, /* a page of a container's images */
    SERVE_TASK_SET_JSON,
    SERVE_TASK_PICTURE,
    SERVE_TASK_IIIF,  /* info.json or a picture */
    SERVE_TASK_LENGTH /* the length of a growing container, into file->total */
} serve_task_kind;

typedef struct serve_task {
    serve_task_kind kind;
    char path[SERVE_PATH_BYTES];  /* of the folder or container */
    char image[SERVE_PATH_BYTES]; /* name or number */
    serve_query query;
    serve_iiif iiif;
    serve_file *file; /* held; NULL for folders */
    char base[300];   /* scheme and host, for addresses in answers */
    bool wants_json;  /* application/json rather than JSON-LD */
} serve_task;

typedef struct serve_answer {
    unsigned status; /* of HTTP */
    const char *type;
    serve_blob *body;                  /* held; NULL: no memory */
    bool is_final;                     /* readers may keep it: it changes with the file only */
    char link[SERVE_PATH_BYTES + 400]; /* field Link; "": none */
} serve_answer;

/* Fills *answer, whose body is to be released. */
void serve_answer_make(const serve_content *content, serve_renderer *renderer,
                       const serve_task *task, serve_answer *answer);
/* An answer of one line of text. */
void serve_answer_text(serve_answer *answer, unsigned status, const char *text);

#endif
