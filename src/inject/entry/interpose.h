// Interposed functions of the C library: _exit, _Exit, execve, execv.
#pragma once

namespace batchlight::inject {

// Looks up the definitions that ours stand before. Once, at attach.
void FindInterposed();

}  // namespace batchlight::inject
