// What `batchlight kernels` prints of a recording.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/result/result_table.h"
#include "base/status.h"
#include "cli/flags/flags.h"
#include "store/store.h"

namespace batchlight::cli {

struct KernelView {
  std::string pattern;  // POSIX extended; "" = all
  bool each_launch = false;
  std::vector<std::string> tables;  // limits, memory, ...
  std::string format;
  size_t rows = 0;      // 0: all
  bool stalls = false;  // --stalls
  int32_t rank = -1;    // -1: all; samples of instructions have none
};

// Whether --table, or what stands for it, names the table.
bool IsWanted(const KernelView& view, std::string_view table);
// Names of kernels in the column of that key, as people read them.
void ShortenKernelNames(ResultTable* table);

// Errors are kUsage: what `format` and `pattern` say is checked before a program is run.
Result<KernelView> MakeKernelView(const ParsedFlags& flags);
// On standard output. A recording without measured kernels is said to be one. Error (kUsage): no
// process has the rank.
Status PrintKernels(const Store& store, const KernelView& view, const std::string& input);

}  // namespace batchlight::cli
