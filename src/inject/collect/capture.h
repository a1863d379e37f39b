// Beginning and ending a capture from inside the program, by its own range: an NVTX range (-c
// nvtx), cudaProfilerStart/Stop (-c cudaProfilerApi) or a window of steps. The protocol is
// described beside ControlPage::state.
#pragma once

namespace batchlight::inject {

enum class CaptureBy {
  // Only as many as were asked for, and only the process that began one ends it: then the tool
  // seals. It does not end when the session says that captures go on until the program ends.
  kRange,
  // Any number, and any process may begin or end one: all windows of a run lie in one recording.
  kSteps,
};

// Begins a capture unless one is being taken. True if this call began it. Not from within a Guard:
// it records that the capture begins.
bool BeginCapture(CaptureBy by);

// True if this call ended it.
bool EndCapture(CaptureBy by);

// Called by the process that has begun a capture, before its next event; nullptr: nothing.
extern void (*g_on_capture_begun)();

}  // namespace batchlight::inject
