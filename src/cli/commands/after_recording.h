// What is shown and written once recordings are sealed.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/status.h"
#include "capture/recording/options.h"

namespace batchlight::cli {

// Before the program runs: error (kUsage) if a type of --export is unknown. Removes types of Nsight
// Systems that cannot be written yet, with one line for each in `notices`.
Status CheckExports(capture::CaptureOptions& options, std::vector<std::string>& notices);

// Prints the summary of the last recording on `out` (nullptr: none), and does what --stats and
// --export ask for. `profile` prints on stderr: stdout is the program's.
Status AfterRecording(const std::vector<std::string>& recordings,
                      const capture::CaptureOptions& options, std::FILE* out);

}  // namespace batchlight::cli
