/* cuda_streams.cc -- streams and events of the execution model; see cuda_runtime.h. */
#include "cuda_runtime.h"
#include <deque>
#include <memory>
#include <set>
#include <stdlib.h>

/* The work of a stream, numbered from 1. Work returns whether it is done: it may have to wait until
 * another stream has reached a number, or for another process. */
struct queue {
    std::deque<std::function<bool()>> work;
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

/* Runs a queue's work up to a number. Returns whether it got there. */
static bool run(const queue_pointer &q, uint64_t until) {
    while (q->done < until) {
        if (!q->work.front()()) return false;
        q->work.pop_front();
        q->done++;
    }
    return true;
}

/* The same, for a host that waits. */
static void finish(const queue_pointer &q, uint64_t until) {
    cuda_model_require(run(q, until), "the host waits for another process without a limit of time");
}

static void put(const queue_pointer &q, std::function<bool()> work) {
    q->work.push_back(std::move(work));
    q->put++;
    bool early = chosen_timing() == CUDA_MODEL_COPIES_EARLY && !q->has_kernels;
    if (chosen_timing() == CUDA_MODEL_AT_ONCE || early) run(q, q->put);
}

void cuda_model_put(cudaStream_t stream, std::function<void()> work) {
    const cuda_model_guard guard;
    if (!stream) return work();
    put(stream->queue, [=] {
        work();
        return true;
    });
}

void cuda_model_put_waiting(cudaStream_t stream, std::function<bool()> work) {
    const cuda_model_guard guard;
    cuda_model_require(stream != nullptr, "work that waits on the default stream");
    put(stream->queue, std::move(work));
}

void cuda_model_put_launch(cudaStream_t stream, const char *kernel, size_t blocks, size_t threads,
                           std::function<void()> body) {
    const cuda_model_guard guard;
    if (stream) stream->queue->has_kernels = true;
    cuda_model_put(stream, [=] { cuda_model_launch(kernel, blocks, threads, body); });
}

void cuda_model_finish(void) {
    const cuda_model_guard guard;
    for (cuda_model_stream *s : streams) finish(s->queue, s->queue->put);
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
    finish(stream->queue, stream->queue->put);
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    const cuda_model_guard guard;
    if (stream) finish(stream->queue, stream->queue->put);
    return device_error();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    const cuda_model_guard guard;
    const queue_pointer other = event->queue;
    const uint64_t reached = event->reached;
    if (other) put(stream->queue, [=] { return run(other, reached); });
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
    if (event->queue) finish(event->queue, event->reached);
    return device_error();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    const cuda_model_guard guard;
    const bool is_reached = !event->queue || run(event->queue, event->reached);
    if (cuda_model_is_lost()) return cudaErrorLaunchFailure;
    return is_reached ? cudaSuccess : cuda_model_set_error(cudaErrorNotReady);
}
