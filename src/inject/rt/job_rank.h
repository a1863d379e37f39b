// Which process of a distributed job this one is, as far as its launcher says (format/launchers.h).
#pragma once

#include <cstdint>

namespace batchlight::inject {

// Whether this process is that one of the job; without a launcher's rank it is.
bool IsOfRank(uint64_t rank);

// Whether a launcher started more than this one.
bool IsOneOfSeveral();

}  // namespace batchlight::inject
