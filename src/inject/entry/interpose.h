// Interposed functions of the C library: _exit, _Exit, execve, execv; wait and its like.
#pragma once

namespace batchlight::inject {

// Looks up the definitions that ours override. Once, at attach.
void FindInterposed();
void FindInterposedWaits();

}  // namespace batchlight::inject
