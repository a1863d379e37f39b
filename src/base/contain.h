// Turns running out of something into a Status, where an exception would cost more than the work it
// interrupts: after a recorded program has ended, its exit code must be returned whatever happens.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace batchlight {

constexpr std::string_view kNoMemory = "out of memory";

// What body() returns; an error (kOutput) if it ends by an exception. `work` is named in the error:
// "sealing run.batchlight". Without memory the error ends with kNoMemory.
Status Contain(const std::string& work, const std::function<Status()>& body);

}  // namespace batchlight
