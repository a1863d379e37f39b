// Threads of the recorder's own in a CUDA program.
#pragma once

namespace batchlight::inject::cupti {

// Runs main(argument), detached; the program's signals do not reach it. False: there is no such
// thread.
bool StartHelperThread(void* (*main)(void*), void* argument);

}  // namespace batchlight::inject::cupti
