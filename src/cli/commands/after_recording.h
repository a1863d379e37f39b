// What is shown and written once recordings are sealed.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "capture/recording/options.h"
#include "capture/recording/sealed_recording.h"
#include "store/store.h"

namespace batchlight::cli {

// Before the program runs: error (kUsage) if a type of --export is unknown. Removes types of Nsight
// Systems that cannot be written yet, with one line for each in `notices`.
Status CheckExports(capture::CaptureOptions& options, std::vector<std::string>& notices);

// Paths that were written, each with what it is.
using WrittenFiles = std::vector<std::pair<std::string, std::string>>;
// Shows a recording to the person who made it.
using ShowRecording = std::function<Status(const Store& store, const WrittenFiles& files)>;
// The summary; `profile` has it on stderr, as stdout is the program's.
ShowRecording SummaryOn(std::FILE* out);

// Shows the last recording (empty `show`: nothing), and does what --stats and --export ask for.
// Goes by the files and the folder that the recordings hold, never by their names.
Status AfterRecording(const capture::SealedRecordings& recordings,
                      const capture::CaptureOptions& options, const ShowRecording& show);

}  // namespace batchlight::cli
