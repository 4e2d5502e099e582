/* cuda_streams.cc -- streams and events of the execution model; see cuda_runtime.h. */
#include "cuda_runtime.h"
#include <deque>
#include <memory>
#include <set>
#include <stdlib.h>

/* The work of a stream, numbered from 1. Work may have to wait until another stream has reached a
 * number. */
struct queue {
    std::deque<std::function<void()>> work;
    uint64_t put = 0, done = 0;
    bool has_kernels = false;
};
typedef std::shared_ptr<queue> queue_pointer;

struct cuda_model_stream {
    queue_pointer queue;
};
struct cuda_model_event {
    queue_pointer queue; /* NULL: not recorded yet */
    uint64_t reached;
};

static std::set<cuda_model_stream *> streams;
static int timing = -1;

void cuda_model_set_timing(cuda_model_timing t) { timing = t; }

static int chosen_timing() {
    const char *given = getenv("TAPER_MODEL_TIMING");
    if (timing < 0) timing = given && *given >= '0' && *given <= '2' ? *given - '0' : 0;
    return timing;
}

/* Runs a queue's work up to a number. */
static void run(const queue_pointer &q, uint64_t until) {
    while (q->done < until && !q->work.empty()) {
        std::function<void()> next = std::move(q->work.front());
        q->work.pop_front();
        q->done++;
        next();
    }
}

static void put(const queue_pointer &q, std::function<void()> work) {
    q->work.push_back(std::move(work));
    q->put++;
    bool early = chosen_timing() == CUDA_MODEL_COPIES_EARLY && !q->has_kernels;
    if (chosen_timing() == CUDA_MODEL_AT_ONCE || early) run(q, q->put);
}

void cuda_model_put(cudaStream_t stream, std::function<void()> work) {
    const cuda_model_guard guard;
    if (stream)
        put(stream->queue, std::move(work));
    else
        work();
}

void cuda_model_put_launch(cudaStream_t stream, const char *kernel, size_t blocks, size_t threads,
                           std::function<void()> body) {
    const cuda_model_guard guard;
    if (stream) stream->queue->has_kernels = true;
    cuda_model_put(stream, [=] { cuda_model_launch(kernel, blocks, threads, body); });
}

void cuda_model_finish(void) {
    const cuda_model_guard guard;
    for (cuda_model_stream *s : streams) run(s->queue, s->queue->put);
}

static cudaError_t device_error(void) {
    return cuda_model_is_lost() ? cudaErrorLaunchFailure : cudaSuccess;
}

/* --- functions of the runtime ---------------------------------------------------------- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
    const cuda_model_guard guard;
    if (cuda_model_is_lost()) return cudaErrorLaunchFailure;
    *stream = new cuda_model_stream{std::make_shared<queue>()};
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const cuda_model_guard guard;
    run(stream->queue, stream->queue->put);
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    const cuda_model_guard guard;
    if (stream) run(stream->queue, stream->queue->put);
    return device_error();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    const cuda_model_guard guard;
    const queue_pointer other = event->queue;
    const uint64_t reached = event->reached;
    if (other) cuda_model_put(stream, [=] { run(other, reached); });
    return device_error();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    if (cuda_model_is_lost()) return cudaErrorLaunchFailure;
    *event = new cuda_model_event{nullptr, 0};
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const cuda_model_guard guard;
    event->queue = stream->queue, event->reached = stream->queue->put;
    return device_error();
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    const cuda_model_guard guard;
    if (event->queue) run(event->queue, event->reached);
    return device_error();
}
