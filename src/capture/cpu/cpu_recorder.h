// Reads what the kernel tells of a program's threads, while it runs, and writes it into the
// recording: samples with their stacks, switches, names. A thread of the tool's own.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "capture/cpu/cpu_log.h"
#include "capture/cpu/file_rights.h"
#include "capture/cpu/perf_events.h"
#include "capture/cpu/perf_record.h"
#include "capture/cpu/process_spaces.h"
#include "capture/cpu/round_thread.h"
#include "native/unwinder.h"

namespace batchlight::capture {

class CpuRecorder {
 public:
  // For a process that has executed nothing yet. `user`: who runs it, if that is not the tool's
  // user; nothing is recorded then that this user may not know. Errors: the kernel refuses
  // (PerfEvents).
  static Result<std::unique_ptr<CpuRecorder>> Open(pid_t pid, const CpuOptions& options,
                                                   const LiveFolder& live_folder, bool collecting,
                                                   const std::optional<FileOwner>& user);

  // Starts the thread: not before the program is forked. Errors: there can be no more threads.
  Status Start();
  // Collection went on or off: what the rings hold belongs to what was before.
  void SetCapture(uint32_t capture_index, bool collecting);
  // Writes what the rings hold, and the names of all functions seen: before `capture_index` is
  // sealed. Errors: why what was recorded ends before its time.
  Status Finish(uint32_t capture_index);
  // Properties of the recording.
  std::vector<std::pair<std::string, std::string>> Facts() const;

 private:
  CpuRecorder(const CpuOptions& options, PerfEvents events, CpuLog log, bool collecting,
              const std::optional<FileOwner>& user)
      : options_(options),
        user_(user),
        events_(std::move(events)),
        log_(std::move(log)),
        collecting_(collecting) {}

  // Reads all rings and takes what happened up to now, in order of time. After an error no more.
  void Round();
  void TakeRings();
  void Take(const PerfRecord& record);
  void TakeSample(const PerfRecord& record);
  void TakeMap(const PerfRecord& record);
  void TakeBegin(const PerfRecord& record);
  void TakeName(const PerfRecord& record);
  void AddFrames(const PerfRecord& record, format::CpuSampleRecord& sample);
  bool WantsStack(uint32_t tid);

  struct Pending {
    int64_t at_ns;
    size_t begin;  // in arena_
    size_t bytes;
  };

  const CpuOptions options_;
  const std::optional<FileOwner> user_;
  std::mutex mutex_;  // of all below but thread_
  Status failed_;
  PerfEvents events_;
  CpuLog log_;
  bool collecting_;
  native::Modules modules_;
  ProcessSpaces spaces_;
  std::unordered_map<uint32_t, uint32_t> samples_;  // of a thread
  std::vector<uint8_t> arena_;
  std::vector<Pending> pending_;
  std::vector<native::CodePlace> places_;
  std::vector<StackFrame> frames_;
  uint32_t capture_index_ = 0;
  int64_t last_ns_ = 0;
  uint64_t lost_ = 0;
  uint64_t work_left_ = 0;  // of this round
  RoundThread thread_;      // goes first
};

}  // namespace batchlight::capture
