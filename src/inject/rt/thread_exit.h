// Notices that a thread ends.
#pragma once

namespace batchlight::inject {

// Once, at attach: `at_exit` runs at the end of every thread that calls CallAtThreadExit().
void PrepareThreadExit(void (*at_exit)());
void CallAtThreadExit();

}  // namespace batchlight::inject
