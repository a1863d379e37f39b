// Good inputs to begin with, made of tests/recordings and tests/kineto, small so that many are
// tried.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace batchlight::fuzz {

using Seed = std::pair<std::string, std::string>;  // name, bytes

// Of a target of targets.def. Aborts if one cannot be made.
std::vector<Seed> SeedsOf(const std::string& target);

}  // namespace batchlight::fuzz
