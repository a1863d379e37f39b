// --monitor: writes the duration of every step, and of its phases, where the tool sees it
// (format/step_board.h). Between windows this is all that is recorded.
#pragma once

#include <cstdint>

#include "format/step_board.h"

namespace batchlight::inject {

// True if the session keeps a board. Set once, at attach.
extern bool g_has_board;

// Reads the session's options (ControlPage::extra).
void ReadStepBoard();

// A phase begins or ends on the calling thread.
void BoardPhaseBegins(uint32_t phase);
void BoardPhaseEnds();

// Step `step` of this process, from 1, has ended on the calling thread. The first one maps the
// board: what prevents that leaves the program without one. Not from within a Guard.
void BoardStepEnded(uint64_t step);

// The calling thread ends: what its phases took is given back.
void ReleasePhases();

// The steps to record next; none without a board.
format::StepRequest RequestedSteps();

}  // namespace batchlight::inject
