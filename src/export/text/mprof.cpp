// -t mprof: resident memory over time with ranges, as memory_profiler's `mprof run` writes it.
//
//   CMDLINE python train.py
//   FUNC step 120.5 1700000000.1000 130.0 1700000000.9000      MiB and time of begin and end
//   MEM 120.500000 1700000000.1000                             of the main process
//   CHLD 1 80.250000 1700000000.1000                           of another one
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "export/exporter.h"
#include "export/text_buffer.h"

namespace batchlight {
namespace {

// Rows of process_usage of one process, in order.
using Looks = std::vector<uint32_t>;

// Shorter ranges lie between two looks, which cannot tell what they did.
constexpr int64_t kShortestRangeNs = 100'000'000;

class MprofFile {
 public:
  MprofFile(const Store& store, const EventSelection& selection, TextBuffer& out)
      : store_(store), selection_(selection), usage_(store.process_usage), out_(out) {
    for (uint32_t row = 0; row < usage_.size(); ++row) {
      const ProcessId process = usage_.process[row];
      const bool is_told = !process.IsNone() && usage_.memory_bytes[row] > 0 &&
                           selection.HasProcess(process) &&
                           selection.HasTime(usage_.start_ns[row], usage_.start_ns[row]);
      if (is_told) looks_[process].push_back(row);
    }
  }

  bool empty() const { return looks_.empty(); }
  uint64_t events() const { return events_; }

  Status Write() {
    main_ = Main();
    std::string command(store_.Text(store_.processes.command_line[main_.row()]));
    std::replace(command.begin(), command.end(), '\n', ' ');
    out_ << "CMDLINE " << command << '\n';
    RETURN_IF_ERROR(Ranges());
    for (const uint32_t row : looks_[main_]) {
      out_ << "MEM " << Mebibytes(usage_.memory_bytes[row]) << ' ' << Seconds(usage_.start_ns[row])
           << '\n';
      ++events_;
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return Children();
  }

 private:
  // Of the processes the one with most ranges, of several the first: that trains.
  ProcessId Main() const {
    std::map<ProcessId, uint64_t> ranges;
    for (size_t row = 0; row < store_.nvtx_ranges.size(); ++row) {
      ++ranges[store_.ProcessOf(store_.nvtx_ranges.thread[row])];
    }
    const auto count = [&](ProcessId process) {
      const auto found = ranges.find(process);
      return found == ranges.end() ? 0 : found->second;
    };
    ProcessId main = looks_.begin()->first;
    for (const auto& [process, looks] : looks_) {
      if (count(process) > count(main)) main = process;
    }
    return main;
  }

  static std::string Mebibytes(uint64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6f", double(bytes) / (1 << 20));
    return text;
  }

  // Unix time, as exact as mprof's.
  std::string Seconds(int64_t at_ns) const {
    constexpr int64_t kSecondNs = 1'000'000'000, kTenthMs = 100'000;
    const int64_t unix_ns =
        std::max<int64_t>(0, AddTimes(selection_.Shifted(at_ns), store_.session_start_utc_ns));
    char text[40];
    std::snprintf(text, sizeof text, "%lld.%04lld", static_cast<long long>(unix_ns / kSecondNs),
                  static_cast<long long>(unix_ns % kSecondNs / kTenthMs));
    return text;
  }

  // Of the main process at the last look by then.
  std::string MemoryAt(int64_t at_ns) const {
    const Looks& looks = looks_.at(main_);
    auto after = std::partition_point(looks.begin(), looks.end(),
                                      [&](uint32_t row) { return usage_.start_ns[row] <= at_ns; });
    if (after != looks.begin()) --after;
    return Mebibytes(usage_.memory_bytes[*after]);
  }

  // Names end at the first space.
  std::string NameOf(size_t row) const {
    std::string name(store_.Text(store_.nvtx_ranges.message[row]));
    if (name.empty()) name = "range";
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }, '_');
    return name;
  }

  Status Ranges() {
    const NvtxRangesTable& ranges = store_.nvtx_ranges;
    if (!selection_.HasTable(ranges.kName)) return {};
    for (size_t row = 0; row < ranges.size(); ++row) {
      const int64_t start_ns = ranges.start_ns[row], end_ns = ranges.end_ns[row];
      if (store_.ProcessOf(ranges.thread[row]) != main_ || end_ns == kOpenEnd) continue;
      if (end_ns - start_ns < kShortestRangeNs || !selection_.HasTime(start_ns, end_ns)) continue;
      out_ << "FUNC " << NameOf(row) << ' ' << MemoryAt(start_ns) << ' ' << Seconds(start_ns) << ' '
           << MemoryAt(end_ns) << ' ' << Seconds(end_ns) << '\n';
      ++events_;
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  Status Children() {
    int number = 0;
    for (const auto& [process, looks] : looks_) {
      if (process == main_) continue;
      ++number;
      for (const uint32_t row : looks) {
        out_ << "CHLD " << number << ' ' << Mebibytes(usage_.memory_bytes[row]) << ' '
             << Seconds(usage_.start_ns[row]) << '\n';
        ++events_;
        RETURN_IF_ERROR(out_.FlushIfLarge());
      }
    }
    return {};
  }

  const Store& store_;
  const EventSelection& selection_;
  const ProcessUsageTable& usage_;
  TextBuffer& out_;
  std::map<ProcessId, Looks> looks_;
  ProcessId main_;
  uint64_t events_ = 0;
};

}  // namespace

Result<uint64_t> ExportMprof(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  MprofFile mprof(store, options.selection, out);
  if (mprof.empty()) {
    return UsageError(
        "what processes use was not recorded: `batchlight profile` does, other recorders do not");
  }
  RETURN_IF_ERROR(mprof.Write());
  RETURN_IF_ERROR(out.Finish());
  return mprof.events();
}

}  // namespace batchlight
