/* route.h -- what a request gets, by its address. Opens files, and knows nothing of responses. */
#ifndef SERVE_ROUTE_H
#define SERVE_ROUTE_H
#include "serve/content/answer.h"

typedef enum serve_route_kind {
    SERVE_ROUTE_FILE,     /* `file`, or its first query.bytes */
    SERVE_ROUTE_TASK,     /* what `task` makes */
    SERVE_ROUTE_REDIRECT, /* `status`, to `text` */
    SERVE_ROUTE_TEXT      /* `status`, with `text` */
} serve_route_kind;

typedef struct serve_route {
    serve_route_kind kind;
    unsigned status;
    serve_file *file; /* held; for SERVE_ROUTE_TASK the container: it becomes the task's */
    serve_query query;
    /* Pictures: what they are follows from the file and the address, so both make an entity tag. */
    bool is_picture;
    char text[SERVE_PATH_BYTES + 320];
} serve_route;

/* target: as it was sent. base: scheme and host. task: filled for SERVE_ROUTE_TASK. */
void serve_route_find(const serve_content *content, const char *target, const char *base,
                      serve_task *task, serve_route *out);

#endif
