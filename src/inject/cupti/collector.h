// The process's use of CUPTI, from cuInit to the end. Started by InitializeInjection, which the
// CUDA driver calls inside cuInit (CUDA_INJECTION64_PATH).
#pragma once

#include <cstdint>

namespace batchlight::inject::cupti {

// Begins to record CUDA if the session asks for it. Whatever prevents it becomes a Reason.
void StartCollector();

// --monitor: does so before the first window only, since a program that launches many small kernels
// is slower from the moment CUPTI is there.
void StartCollectorBeforeWindow();

// True while CUPTI is ours: another tool in this process does not get it.
bool HoldsCupti();

// Makes CUPTI collect, or not, as the session's state says. Called where the state changes.
void FollowState();

// The process is about to end (exit, _exit) or to seal a capture: asks CUPTI for all it has and
// waits for it, at most `timeout_ms`. `final` also takes work that has not ended.
void Flush(bool final, uint32_t timeout_ms);
inline constexpr uint32_t kExitTimeoutMs = 3000;

// In a forked child: CUDA does not work there, and neither does CUPTI.
void ForgetCollector();

}  // namespace batchlight::inject::cupti
