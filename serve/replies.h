/* replies.h -- files, ranges and answers as responses. All functions give the request its response;
 * they are called by the thread of libmicrohttpd. */
#ifndef SERVE_REPLIES_H
#define SERVE_REPLIES_H
#include "serve/route.h"
#include "serve/server.h"

/* One line of text. */
void serve_reply_text(serve_request *request, unsigned status, const char *text);
void serve_reply_redirect(serve_request *request, unsigned status, const char *location);
/* To OPTIONS: what may be asked. */
void serve_reply_options(serve_request *request);
/* A file or its first query.bytes, or the ranges of it that were asked for. */
void serve_reply_file(serve_request *request, serve_file *file, const serve_query *query);
/* What a job has made. tag: its entity tag; "": none. */
void serve_reply_answer(serve_request *request, const serve_answer *answer, const char *tag,
                        const serve_file *file);
/* 304 or 412, if a condition of the request says so. */
bool serve_reply_condition(serve_request *request, const char *tag, int64_t modified);

#endif
