// What is shown and written once recordings are sealed.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight::cli {

struct AfterOptions {
  bool stats = false;                // --stats
  std::vector<std::string> exports;  // --export
};

// Prints the summary of each recording on stdout (of the last one only if there are many), and does
// what --stats and --export ask for.
Status AfterRecording(const std::vector<std::string>& recordings, const AfterOptions& options);

}  // namespace batchlight::cli
