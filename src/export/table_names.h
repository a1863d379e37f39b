// The two names of a table for --tables: ours (kernels) and nsys's (CUPTI_ACTIVITY_KIND_KERNEL).
// Either selects it in every format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace batchlight {

// The other names of the table of this name: nsys has one table for several of ours, and the other
// way round. Empty if there are none.
std::vector<std::string> OtherTableNames(std::string_view name);

// All names that a pattern may match, including tables of nsys that are never written.
const std::vector<std::string>& KnownTableNames();

}  // namespace batchlight
