// The words that stand for a value of a flag, for completion: tables, reports, rules, sessions, ...
#pragma once

#include <string_view>
#include <vector>

#include "cli/reference/complete.h"

namespace batchlight::cli {

// `value_name`: a row of value_names.def with Known.
std::vector<Candidate> KnownWords(const CommandReference& all, std::string_view value_name);

}  // namespace batchlight::cli
