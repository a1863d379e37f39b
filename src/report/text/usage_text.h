// What the program and the rest of the machine used, in a line.
#pragma once

#include <string>

#include "store/store.h"

namespace batchlight {

// "used 1.24 of 2 processors, at most 1.50 GiB of memory in a process"; "" where that was not
// recorded.
std::string UsageText(const Store& store);

// A sentence for who reads the times: that other programs, a limit or the hypervisor kept the
// processors from the program. "" if they did not.
std::string OverloadText(const Store& store);

}  // namespace batchlight
