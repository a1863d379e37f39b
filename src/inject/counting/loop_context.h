// What those share who do something with CUPTI where an iteration of the training loop ends: in
// which CUDA context it trains, and whether CUPTI may be called there.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

class LoopContext {
 public:
  // Whether the iteration that ends made nodes of a graph. Where it is the loop itself that is
  // captured, any call of CUPTI's would break the capture. To be asked once an iteration.
  bool IsCapturing();
  // Whether the thread has the context of the first iteration that had one.
  bool HasContext(const Library& library);
  void* context() const { return context_; }
  uint32_t device() const { return device_; }
  uint32_t ContextId(const Library& library) const;

 private:
  uint64_t nodes_seen_ = 0;
  void* context_ = nullptr;
  uint32_t device_ = 0;
};

// A node of a graph was made, on any thread.
void NoteGraphNode();

// Why something is not read, once: `what` `why` [number].
void SayCounters(const char* what, const char* why, uint64_t number = 0);

}  // namespace batchlight::inject::cupti
