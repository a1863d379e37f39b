// What is shown and written once recordings are sealed.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/status.h"
#include "capture/options.h"

namespace batchlight::cli {

// Prints the summary of the last recording on `out`, and does what --stats and --export ask for.
// `profile` prints on stderr: stdout is the program's.
Status AfterRecording(const std::vector<std::string>& recordings,
                      const capture::CaptureOptions& options, std::FILE* out);

}  // namespace batchlight::cli
