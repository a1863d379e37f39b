// A top list as a picture, for a README, a pull request or TensorBoard.
#pragma once

#include <string>

#include "base/status.h"
#include "report/text/top_list.h"

namespace batchlight {

// The bytes of a PNG file. Errors: kInternal when the drawing library fails.
Result<std::string> DrawTopList(const RunOverview& overview, const TopList& list);

}  // namespace batchlight
