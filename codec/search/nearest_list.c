/* nearest_list.c -- a binary heap; see nearest_list.h. */
#include "codec/search/nearest_list.h"
#include <math.h>

static int nearer(double a, uint32_t index_a, double b, uint32_t index_b) {
    return a < b || (a == b && index_a < index_b);
}

static void put(codec_nearest_list *list, size_t at, double distance, uint32_t index) {
    list->distance[at] = distance, list->index[at] = index;
}

/* Move an element down from `at` until its children, of the first `held`, are nearer. */
static void sift_down(codec_nearest_list *list, size_t held, size_t at, double distance,
                      uint32_t index) {
    const double *d = list->distance;
    const uint32_t *i = list->index;
    for (size_t child; (child = 2 * at + 1) < held; at = child) {
        if (child + 1 < held && nearer(d[child], i[child], d[child + 1], i[child + 1])) child++;
        if (!nearer(distance, index, d[child], i[child])) break;
        put(list, at, d[child], i[child]);
    }
    put(list, at, distance, index);
}

static void sift_up(codec_nearest_list *list, size_t at, double distance, uint32_t index) {
    for (size_t parent; at; at = parent) {
        parent = (at - 1) / 2;
        if (!nearer(list->distance[parent], list->index[parent], distance, index)) break;
        put(list, at, list->distance[parent], list->index[parent]);
    }
    put(list, at, distance, index);
}

void codec_nearest_push(codec_nearest_list *list, double distance, uint32_t index) {
    if (list->held < list->capacity)
        sift_up(list, list->held++, distance, index);
    else if (nearer(distance, index, list->distance[0], list->index[0]))
        sift_down(list, list->held, 0, distance, index);
}

double codec_nearest_limit(const codec_nearest_list *list) {
    return list->held < list->capacity ? INFINITY : list->distance[0];
}

void codec_nearest_sort(codec_nearest_list *list) {
    for (size_t left = list->held; left > 1;) {
        left--;
        const double distance = list->distance[left];
        const uint32_t index = list->index[left];
        put(list, left, list->distance[0], list->index[0]);
        sift_down(list, left, 0, distance, index);
    }
}
