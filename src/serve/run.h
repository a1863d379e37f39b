// A run that is served: its events and their index, and what is worked out on demand.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "analysis/steps/steps.h"
#include "base/status.h"
#include "store/store.h"
#include "timeline/answers/links.h"
#include "timeline/answers/range_tables.h"
#include "timeline/index/timeline.h"

namespace batchlight::serve {

// One reading of the recording, or the first picture of it; never changes.
class Snapshot {
 public:
  // `complete`: with what analyses find, which takes longer than all the rest.
  Snapshot(std::shared_ptr<const Store> store, const StepOptions& steps, uint32_t generation,
           bool complete = true);

  const Store& store() const { return *store_; }
  const timeline::Timeline& timeline() const { return *timeline_; }
  const StepOptions& step_options() const { return steps_; }
  timeline::RangeTableMaker& range_tables() const { return range_tables_; }
  uint32_t generation() const { return generation_; }
  bool complete() const { return complete_; }
  // Worked out when they are first asked for.
  const timeline::Links& links() const;

 private:
  std::shared_ptr<const Store> store_;
  StepOptions steps_;
  std::unique_ptr<timeline::Timeline> timeline_;
  mutable timeline::RangeTableMaker range_tables_;
  uint32_t generation_;
  bool complete_;
  mutable std::once_flag links_once_;
  mutable std::optional<timeline::Links> links_;
};

struct RunSource {
  std::string path;
  std::function<Result<Store>()> read;
  // A number that changes when there is more to read; the same for a recording that is complete.
  std::function<uint64_t()> version;
  std::function<bool()> growing;
  StepOptions steps;
  // A number that changes when a complete recording is changed or replaced, 0: it is not there.
  // None: nobody looks.
  std::function<uint64_t()> state;
  // A first reading of so many rows shows what is recorded before steps, phases and gaps are found.
  uint64_t large_rows = 1'000'000;
  uint64_t most_prepared_rows = 30'000'000;
};

// What became of a recording since it was read.
enum class FileChange : uint8_t { kNone, kReplaced, kRemoved };

class Run {
 public:
  explicit Run(RunSource source) : source_(std::move(source)) {}

  // Reads the recording. The error of the first reading is the caller's; later ones keep what was
  // read before.
  Status Read();
  // Works out what all requests for tables have in common, for which the first would wait. Nothing
  // of a run that still grows, or that would take many seconds.
  void Prepare() const;
  // Reads again if there is more; at most once a second. Returns at once while another thread does.
  void Follow();

  std::shared_ptr<const Snapshot> snapshot() const;
  const std::string& path() const { return source_.path; }
  bool growing() const { return growing_; }
  // Whether the recording is what was read; looks at the file.
  FileChange change() const;

 private:
  void Publish(std::shared_ptr<const Store> store, bool complete);

  RunSource source_;
  mutable std::mutex mutex_;  // of snapshot_
  std::shared_ptr<const Snapshot> snapshot_;
  std::mutex reading_;
  uint64_t version_ = 0;
  int64_t looked_ms_ = 0;   // of these two only who holds reading_
  int64_t reading_ms_ = 0;  // how long the last reading took
  std::atomic<bool> growing_ = false;
  std::atomic<uint64_t> state_ = 0;  // of the file that was read; 0: it is not known
};

}  // namespace batchlight::serve
