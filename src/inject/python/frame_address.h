// Tells the tool where this process keeps its Python frames: it samples them from outside.
#pragma once

#include "inject/stacks/frame_walk.h"

namespace batchlight::inject {

// Called on a thread of Python with the GIL held, when `source` was checked. nullptr, or why it
// cannot be told.
const char* PublishFrames(const stacks::FrameSource& source);
// In a forked child, of which nothing but the forking thread is left.
void PublishFramesAfterFork();

}  // namespace batchlight::inject
