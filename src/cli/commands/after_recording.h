// What is shown and written once recordings are sealed.
#pragma once

#include <concepts>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/overview/run_overview.h"
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
// Shows a recording to the person who made it, from all that was recorded or from its overview,
// which what is kept for `ranks` is made from too. Empty: nothing is shown.
class ShowRecording {
 public:
  using OfStore = std::function<Status(const Store&, const WrittenFiles&)>;
  using OfOverview = std::function<Status(const RunOverview&, const WrittenFiles&)>;

  ShowRecording() = default;
  template <std::convertible_to<OfStore> Show>
  ShowRecording(Show show) : of_store_(std::move(show)) {}
  template <std::convertible_to<OfOverview> Show>
  ShowRecording(Show show) : of_overview_(std::move(show)) {}

  explicit operator bool() const { return of_store_ || of_overview_; }
  bool needs_overview() const { return static_cast<bool>(of_overview_); }
  // `overview`: made, if that is needed.
  Status Show(const Store& store, const RunOverview* overview, const WrittenFiles& files) const {
    return of_store_ ? of_store_(store, files) : of_overview_(*overview, files);
  }

 private:
  OfStore of_store_;
  OfOverview of_overview_;
};

// The summary; `profile` has it on stderr, as stdout is the program's.
ShowRecording SummaryOn(std::FILE* out);

// Shows the last recording (empty `show`: nothing), and does what --stats and --export ask for.
// Goes by the files and the folder that the recordings hold, never by their names.
Status AfterRecording(const capture::SealedRecordings& recordings,
                      const capture::CaptureOptions& options, const ShowRecording& show);

}  // namespace batchlight::cli
