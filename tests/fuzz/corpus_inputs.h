// The inputs that fuzzing found once.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"

namespace batchlight::fuzz {

// Of a target of targets.def.
inline std::vector<std::string> CorpusInputs(const std::string& target) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(BATCHLIGHT_SOURCE_DIR) +
                                                               "/tests/fuzz/corpus/" + target)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const auto& path : paths) inputs.push_back(ReadWholeFile(path).value());
  return inputs;
}

}  // namespace batchlight::fuzz
