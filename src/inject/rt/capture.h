// Starting and stopping a capture from inside the program, by its own range: an NVTX range
// (-c nvtx), cudaProfilerStart/Stop (-c cudaProfilerApi) or a window of steps. The protocol is
// described beside ControlPage::state.
#pragma once

namespace batchlight::inject {

// Starts a capture unless one is being taken, or as many as were asked for have been. True if this
// call started it. Not from within a Guard: it records that the capture starts.
bool CaptureStart();

// Ends the capture that CaptureStart() of this process began; true if this call ended it. Does
// nothing when the session says that captures go on until the program ends.
bool CaptureStop();

// The same for a window of steps: any process may begin or end one, the tool is not asked to seal,
// and all windows of a run lie in one recording.
bool WindowBegins();
bool WindowEnds();

}  // namespace batchlight::inject
