// source.html of a report: the user's source, with the time and memory of each line beside it.
#pragma once

#include <string>
#include <vector>

#include "analysis/overview/run_overview.h"

namespace batchlight {

struct SourceFile {
  std::string path;  // as frames name it
  std::string text;
};

// One page without scripts. Files none of whose lines did anything are left out; "": all are.
std::string MakeSourcePage(const RunOverview& overview, const std::vector<SourceFile>& files);

}  // namespace batchlight
