// What the parts of the collector share: the callbacks (on the program's and CUPTI's threads), the
// helper thread, and those who ask for a flush.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/cupti/buffer_pool.h"
#include "inject/cupti/library.h"
#include "inject/cupti/options.h"

namespace batchlight::inject::cupti {

enum class FlushKind : uint32_t { kNone = 0, kCompleted = 1, kAll = 2 };

// How CUPTI is held. What can be enabled depends on when it was claimed (design/0011-cupti.md).
enum class Hold : uint32_t {
  kNone,     // not ours: nothing costs anything
  kListens,  // subscribed, for the callbacks of cudaProfilerStart and Stop alone
  kEarly,    // claimed in cuInit, before the first context: everything can be recorded
  kLate,     // claimed later: calls by callback, CUDA graphs kernel by kernel
};

struct CollectorState {
  Library library;
  Options options;
  BufferPool pool;
  void* subscriber = nullptr;

  std::atomic<bool> running{false};  // there is a collector; false in a forked child
  std::atomic<Hold> hold{Hold::kNone};
  std::atomic<bool> context_seen{false};  // cuInit is over: the driver may be called
  std::atomic<bool> applying{false};      // one thread changes `hold` or what is collected
  std::atomic<bool> collecting{false};    // what CUPTI was last told
  std::atomic<bool> ever_collected{false};
  std::atomic<bool> finalize_wanted{false};  // at the exit of the next cuDriverGetVersion
  std::atomic<uint32_t> windows{0};          // begun so far
  std::atomic<bool> devices_told{false};     // CUPTI gave records of the GPUs
  std::atomic<uint32_t> helper_tid{0};

  std::atomic<uint32_t> flush_wanted{0};  // FlushKind, taken by the helper
  std::atomic<uint32_t> flushes_done{0};  // futex word

  std::atomic<uint64_t> decoded_records{0};
  std::atomic<uint64_t> decode_ns{0};

  // Records come: buffers are registered.
  bool Records() const { return hold.load(std::memory_order_acquire) >= Hold::kEarly; }
};

extern CollectorState g_collector;

// attach.cpp. All under `applying`, or inside cuInit.
// nullptr, or why CUPTI cannot be used; then it is not held.
const char* Attach(Hold wanted);
// Gives CUPTI back: from the next launch on the program runs as if it had never been there. False
// if this CUPTI cannot, or not safely.
bool Detach();
// The callback of cuDriverGetVersion, which only Detach() enables.
void FinalizeInCallback(uint32_t site);

// CUPTI's callbacks.
void OnBufferRequested(uint8_t** buffer, size_t* bytes, size_t* max_records);
void OnBufferCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                       size_t valid_bytes);
void OnCallback(void* user, uint32_t domain, uint32_t cbid, const void* data);

// Starts the thread that flushes, reads the clocks and follows the tool's starts and stops.
bool StartHelper();
// Has the helper look at flush_wanted now.
void WakeHelper();

}  // namespace batchlight::inject::cupti
