// What the parts of the collector share: the callbacks (on the program's and CUPTI's threads), the
// helper thread, and those who ask for a flush.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/cupti/buffer_pool.h"
#include "inject/cupti/library.h"
#include "inject/cupti/options.h"

namespace batchlight::inject::cupti {

inline constexpr uint32_t kFlushCompleted = 1, kFlushAll = 2;  // bits of flush_wanted

struct CollectorState {
  Library library;
  Options options;
  BufferPool pool;
  void* subscriber = nullptr;
  bool whole_graphs = false;  // kGraphTrace may be enabled: see kinds.cpp; under `applying`
  bool paused = false;        // for a step without detail; under `applying`

  std::atomic<bool> running{false};       // CUPTI is ours; false in a forked child
  std::atomic<bool> context_seen{false};  // cuInit is over: the driver may be called
  std::atomic<bool> graph_made{false};    // by the program; known if steps go without detail
  std::atomic<bool> applying{false};      // one thread is inside FollowState()
  std::atomic<bool> collecting{false};    // what CUPTI was last told
  std::atomic<bool> ever_collected{false};
  std::atomic<uint32_t> helper_tid{0};

  std::atomic<bool> has_helper{false};  // otherwise whoever wants a flush makes it

  // Whoever wants a flush sets its bit, takes the next number and waits until that number is done.
  std::atomic<uint32_t> flush_wanted{0};
  std::atomic<uint32_t> flushes_asked{0};
  std::atomic<uint32_t> flushes_done{0};  // futex word

  std::atomic<uint64_t> decoded_records{0};
  std::atomic<uint64_t> decode_ns{0};
};

extern CollectorState g_collector;

// CUPTI's callbacks.
void OnBufferRequested(uint8_t** buffer, size_t* bytes, size_t* max_records);
void OnBufferCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                       size_t valid_bytes);
void OnCallback(void* user, uint32_t domain, uint32_t cbid, const void* data);

// Notes that `what` is not recorded (nullptr: CUDA as a whole).
void SayRefused(const char* what, const char* why);

// Starts the thread that flushes, reads the clocks and follows the tool's starts and stops.
bool StartHelper();
// Makes the helper look at flush_wanted now.
void WakeHelper();

}  // namespace batchlight::inject::cupti
