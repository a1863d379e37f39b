// What a measured roofline means, in words for a terminal: of the kernel that takes most of the
// time.
#pragma once

#include <string>

#include "analysis/counters/kernel_figures.h"

namespace batchlight {

// "" where no operations were counted. Ends with a line end.
std::string RooflineHint(const Store& store, const KernelReport& report);

}  // namespace batchlight
