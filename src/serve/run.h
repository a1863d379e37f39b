// A run that is served: its events and their index, and what is worked out on demand.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "analysis/steps/steps.h"
#include "base/status.h"
#include "serve/snapshot.h"
#include "store/store.h"

namespace batchlight::serve {

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
  // What was recorded since that time (RecordedParts::since_ns). None: it is always read whole.
  std::function<Result<Store>(int64_t since_ns)> read_since;
  // Of a run that goes on and takes more processor time to read, what is new is read by itself.
  int64_t most_reading_ms = 250;
};

// What became of a recording since it was read.
enum class FileChange : uint8_t { kNone, kReplaced, kRemoved };

class Run {
 public:
  explicit Run(RunSource source) : source_(std::move(source)) {}
  // Waits for what is being read.
  ~Run();

  // Reads the recording. The error of the first reading is the caller's; later ones keep what was
  // read before.
  Status Read();
  // Works out what all requests for tables have in common, for which the first would wait. Nothing
  // of a run that still grows, or that would take many seconds.
  void Prepare() const;
  // Looks whether there is more, at most twice a second, and reads that: the whole again where it
  // is short, else what is new, and the whole in a thread of its own once that has become much.
  // Returns at once while another thread does.
  void Follow();
  // Whether that thread reads.
  bool is_reading_whole() const { return is_reading_whole_; }

  std::shared_ptr<const Snapshot> snapshot() const;
  const std::string& path() const { return source_.path; }
  bool growing() const { return growing_; }
  // Whether the recording is what was read; looks at the file.
  FileChange change() const;

 private:
  // One reading. `publish`: as soon as there is something to show, else only for what follows.
  Status ReadWhole(bool publish);
  void ReadNewer();
  void ReadWholeBeside();
  std::shared_ptr<const Snapshot> whole() const;

  RunSource source_;
  mutable std::mutex mutex_;  // of snapshot_
  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<const Snapshot> whole_;  // the last reading of all; guarded by mutex_ too
  std::mutex reading_;
  int64_t began_ms_ = 0;  // the last look; of these and the thread only who holds reading_
  int64_t ended_ms_ = 0;
  int64_t reading_ms_ = 0;  // what it took, processor time
  std::thread beside_;
  std::atomic<bool> is_reading_whole_ = false;
  std::atomic<int64_t> whole_ms_ = 0;        // what the last reading of all took, processor time
  std::atomic<int64_t> whole_ended_ms_ = 0;  // when that was
  std::atomic<uint32_t> generation_ = 0;     // the last one given
  std::atomic<uint64_t> version_ = 0;
  std::atomic<bool> growing_ = false;
  std::atomic<uint64_t> state_ = 0;  // of the file that was read; 0: it is not known
};

}  // namespace batchlight::serve
