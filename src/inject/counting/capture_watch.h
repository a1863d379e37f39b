// When CUPTI's profilers may be switched: between captures of CUDA graphs. While a stream is
// captured most of CUDA is forbidden to every thread, and who calls it breaks the program's
// capture.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

// From here on captures are seen. Before the first one.
void WatchCaptures(const Library& library, void* subscriber);

// CUPTI's callback of a call of the driver, where it is of WatchCaptures' kinds.
// Whether a stream of the process is being captured now: any thread.
bool IsAnyCaptured();
void OnCaptureCall(uint32_t cbid, const CallbackData& call);

// Called by the thread that is about to begin the first of the captures that are open: what must
// not be on within it can be switched off.
extern void (*g_before_capture)();

// As long as it exists, and says true, no stream is captured: a capture that begins waits for it
// (10 s at most). False: there is a capture, or another thread has one of these.
class BetweenCaptures {
 public:
  BetweenCaptures();
  ~BetweenCaptures();
  BetweenCaptures(const BetweenCaptures&) = delete;
  BetweenCaptures& operator=(const BetweenCaptures&) = delete;

  explicit operator bool() const { return is_taken_; }

 private:
  const bool is_taken_;
};

}  // namespace batchlight::inject::cupti
