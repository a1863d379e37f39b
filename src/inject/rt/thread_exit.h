// Notices that a thread ends.
#pragma once

namespace batchlight::inject {

void PrepareThreadExit();  // once, at attach
void CallAtThreadExit();   // the calling thread's stream is to be closed when it ends

}  // namespace batchlight::inject
