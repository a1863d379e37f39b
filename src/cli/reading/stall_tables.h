// Tables of sampled instructions beside those of the store, which has none.
#pragma once

#include <string>
#include <vector>

#include "analysis/result/result_table.h"
#include "analysis/stalls/stall_profile.h"
#include "base/status.h"
#include "store/store.h"

namespace batchlight::cli {

// Every window is a row of counter_ranges too: without one the recording need not be read again.
bool HasStallWindows(const Store& store);

// Of the recording at `input`, whose store it is, with the text of lines where their files are as
// they were. Errors: kInput.
Result<StallProfile> ReadStallProfile(const Store& store, const std::string& input);

// Of the recording at `input`, whose store it is: kernels, then lines and instructions. Empty if it
// has no samples. Errors: kInput.
Result<std::vector<ResultTable>> ReadStallTables(const Store& store, const std::string& input);

}  // namespace batchlight::cli
