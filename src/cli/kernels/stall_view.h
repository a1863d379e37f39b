// What `batchlight kernels --stalls` prints of a recording: what warps of kernels waited for.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/kernels/kernel_tables.h"
#include "report/tables/table_format.h"

namespace batchlight::cli {

inline constexpr std::array<std::string_view, 2> kStallTables = {"stalls", "lines"};

bool WantsStalls(const KernelView& view);

// `store` is of `input`. `wanted`: which kernels, by their demangled name; empty: all. A recording
// without samples is said to be one.
Status PrintStalls(const Store& store, const KernelView& view, const TableFormat& format,
                   const std::function<bool(std::string_view)>& wanted, const std::string& input);

}  // namespace batchlight::cli
