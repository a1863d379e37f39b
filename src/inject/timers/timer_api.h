// Between the library of timers (this folder), which is preloaded besides the injected one where
// the kernel takes no samples, and that one. Both are of one build.
#pragma once

#include <atomic>
#include <cstdint>

namespace batchlight::inject::timers {

struct TimerApi {
  const std::atomic<uint32_t>* state;  // ControlPage::state
  int (*open_folder)();                // the live folder; -errno if it is not there any more
  void (*reason)(const char* text);    // why this process is not sampled
};

}  // namespace batchlight::inject::timers

// Attaches if that is still to be done. nullptr: this process is not recorded.
extern "C" const batchlight::inject::timers::TimerApi* batchlight_timer_api();
