/* connections.c -- see connections.h. */
#include "serve/connections.h"
#include "serve/content/files.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

struct serve_connection {
    serve_connection *before, *next;
    int socket;
    bool is_busy;
    int64_t since_ms;
    void *pending;
};

struct serve_connections {
    pthread_mutex_t lock;
    serve_connection *first;
};

serve_connections *serve_connections_open(void) {
    serve_connections *all = calloc(1, sizeof *all);
    if (all) pthread_mutex_init(&all->lock, NULL);
    return all;
}

void serve_connections_close(serve_connections *all) {
    if (!all) return;
    while (all->first) serve_connection_remove(all, all->first);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

serve_connection *serve_connection_add(serve_connections *all, int socket) {
    serve_connection *one = calloc(1, sizeof *one);
    if (!one) return NULL;
    one->socket = socket, one->since_ms = serve_now_ms();
    pthread_mutex_lock(&all->lock);
    one->next = all->first;
    if (one->next) one->next->before = one;
    all->first = one;
    pthread_mutex_unlock(&all->lock);
    return one;
}

void serve_connection_remove(serve_connections *all, serve_connection *one) {
    if (!one) return;
    pthread_mutex_lock(&all->lock);
    *(one->before ? &one->before->next : &all->first) = one->next;
    if (one->next) one->next->before = one->before;
    pthread_mutex_unlock(&all->lock);
    free(one);
}

void serve_connection_busy(serve_connections *all, serve_connection *one, bool is_busy) {
    if (!one) return;
    pthread_mutex_lock(&all->lock);
    one->is_busy = is_busy, one->since_ms = serve_now_ms();
    pthread_mutex_unlock(&all->lock);
}

void *serve_connection_pending(serve_connection *one, void *pending) {
    void *before = one->pending;
    one->pending = pending;
    return before;
}

void serve_connections_sweep(serve_connections *all, int64_t most_ms) {
    const int64_t now = serve_now_ms();
    pthread_mutex_lock(&all->lock); /* no socket is closed meanwhile */
    for (serve_connection *one = all->first; one; one = one->next)
        if (!one->is_busy && now - one->since_ms > most_ms) shutdown(one->socket, SHUT_RDWR);
    pthread_mutex_unlock(&all->lock);
}
