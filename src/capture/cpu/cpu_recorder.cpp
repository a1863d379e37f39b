#include "capture/cpu/cpu_recorder.h"

#include <algorithm>
#include <chrono>

#include "base/contain.h"
#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

constexpr size_t kMaxFrames = 512;
// Bytes of unwind tables that are run in a round: seconds at most, of a program that means harm.
// All of a real one has some dozen MB, most of which is read once.
constexpr uint64_t kMostWork = 16 << 20;
constexpr int64_t kLongestRoundNs = 50'000'000;
constexpr int64_t kShortestRoundNs = 5'000'000;
constexpr int kRoundsPerRing = 3;

// CpuSwitch::kind
constexpr uint32_t kGot = 0;
constexpr uint32_t kPreempted = 1;
constexpr uint32_t kBlocked = 2;

}  // namespace

Result<std::unique_ptr<CpuRecorder>> CpuRecorder::Open(pid_t pid, const CpuOptions& options,
                                                       const LiveFolder& live_folder,
                                                       bool collecting,
                                                       const std::optional<FileOwner>& user) {
  ASSIGN_OR_RETURN(PerfEvents events, PerfEvents::Open(pid, options, collecting, !user));
  ASSIGN_OR_RETURN(CpuLog log, CpuLog::Create(live_folder, kCpuFile, 1));
  return std::unique_ptr<CpuRecorder>(
      new CpuRecorder(options, std::move(events), std::move(log), collecting, user));
}

Status CpuRecorder::Start() {
  const auto pause = std::chrono::nanoseconds(
      std::clamp(events_.ring_ns() / kRoundsPerRing, kShortestRoundNs, kLongestRoundNs));
  return thread_.Start("sampling processors", mutex_, pause, [this] { Round(); });
}

void CpuRecorder::SetCapture(uint32_t capture_index, bool collecting) {
  const std::lock_guard lock(mutex_);
  Round();
  capture_index_ = capture_index;
  log_.SetCapture(capture_index);
  if (collecting == collecting_) return;
  collecting_ = collecting;
  events_.SetCollecting(collecting);
}

Status CpuRecorder::Finish(uint32_t capture_index) {
  const std::lock_guard lock(mutex_);
  Round();
  log_.SetCapture(capture_index);
  lost_ = std::max(lost_, events_.Lost());
  if (lost_ > 0) log_.AddCounter(format::Counter::kCpuEventsDropped, lost_, last_ns_);
  Status named;
  if (options_.resolve_symbols) {
    named = Contain("naming sampled functions", [this]() -> Status {
      const FileRights rights(user_);
      log_.AddNames(events_.has_kernel(), last_ns_);
      return {};
    });
  }
  log_.SetCapture(capture_index_);
  return failed_.ok() ? named : failed_;
}

std::vector<std::pair<std::string, std::string>> CpuRecorder::Facts() const {
  std::vector<std::pair<std::string, std::string>> facts;
  if (options_.samples) {
    facts.emplace_back("sampling.period_ns", std::to_string(options_.period_ns));
    facts.emplace_back("sampling.kernel", events_.has_kernel() ? "yes" : "no");
    facts.emplace_back("sampling.backtrace", NameOf(options_.backtrace));
  }
  if (options_.switches) facts.emplace_back("switches.recorded", "yes");
  return facts;
}

void CpuRecorder::Round() {
  if (!failed_.ok()) return;
  failed_ = Contain("sampling processors", [this]() -> Status {
    TakeRings();
    return {};
  });
}

void CpuRecorder::TakeRings() {
  const int64_t until_ns = MonotonicNow();
  work_left_ = kMostWork;
  events_.Read([this](std::span<const uint8_t> bytes) {
    const PerfRecord record = DecodePerfRecord(bytes, events_.sample_type());
    if (record.kind == PerfKind::kOther) return;
    pending_.push_back({record.at_ns, arena_.size(), bytes.size()});
    arena_.insert(arena_.end(), bytes.begin(), bytes.end());
  });
  std::stable_sort(pending_.begin(), pending_.end(),
                   [](const Pending& a, const Pending& b) { return a.at_ns < b.at_ns; });
  size_t taken = 0;
  for (; taken < pending_.size() && pending_[taken].at_ns <= until_ns; ++taken) {
    const Pending& pending = pending_[taken];
    last_ns_ = std::max(last_ns_, pending.at_ns);
    Take(DecodePerfRecord({arena_.data() + pending.begin, pending.bytes}, events_.sample_type()));
  }
  // What came while the rings were read waits: another ring may yet have something older.
  std::vector<uint8_t> arena;
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken));
  for (Pending& pending : pending_) {
    const auto from = arena_.begin() + static_cast<std::ptrdiff_t>(pending.begin);
    pending.begin = arena.size();
    arena.insert(arena.end(), from, from + static_cast<std::ptrdiff_t>(pending.bytes));
  }
  arena_ = std::move(arena);
}

void CpuRecorder::Take(const PerfRecord& record) {
  switch (record.kind) {
    case PerfKind::kSample:
      return TakeSample(record);
    case PerfKind::kSwitch:
      return log_.AddSwitch({.pid = record.pid,
                             .tid = record.tid,
                             .cpu = record.cpu,
                             .kind = !record.switched_out ? kGot
                                     : record.preempted   ? kPreempted
                                                          : kBlocked},
                            last_ns_);
    case PerfKind::kMap:
      return TakeMap(record);
    case PerfKind::kBegin:
      return TakeBegin(record);
    case PerfKind::kName:
      return TakeName(record);
    case PerfKind::kEnd:
      spaces_.End(record.pid, record.tid);
      samples_.erase(record.tid);
      return log_.AddThread({.pid = record.pid, .tid = record.tid, .what = kThreadEnded}, {},
                            last_ns_);
    case PerfKind::kLost:
      lost_ += record.lost;
      return;
    case PerfKind::kOther:
      return;
  }
}

void CpuRecorder::TakeMap(const PerfRecord& record) {
  const FileRights rights(user_);
  spaces_.Change(record.pid)
      .Map(record.begin, record.bytes, record.file_offset, modules_.Find(std::string(record.name)));
}

void CpuRecorder::TakeBegin(const PerfRecord& record) {
  const bool is_process = record.pid != record.parent_pid;
  spaces_.Begin(record.pid, record.tid, record.parent_pid);
  log_.AddThread({.pid = record.pid,
                  .tid = record.tid,
                  .parent_pid = is_process ? record.parent_pid : 0,
                  .what = kThreadBegan},
                 {}, last_ns_);
}

void CpuRecorder::TakeName(const PerfRecord& record) {
  if (record.by_exec) spaces_.Exec(record.pid);
  log_.AddThread({.pid = record.pid,
                  .tid = record.tid,
                  .what = record.by_exec ? kThreadNamedByExec : kThreadNamed},
                 record.name, last_ns_);
}

bool CpuRecorder::WantsStack(uint32_t tid) {
  return options_.samples_per_stack <= 1 || samples_[tid]++ % options_.samples_per_stack == 0;
}

void CpuRecorder::TakeSample(const PerfRecord& record) {
  format::CpuSampleRecord sample{};
  sample.pid = record.pid;
  sample.tid = record.tid;
  sample.cpu = record.cpu;
  sample.cpu_ns = static_cast<uint64_t>(options_.period_ns);
  frames_.clear();
  AddFrames(record, sample);
  log_.AddSample(sample, frames_, last_ns_);
}

// Innermost first: the kernel's, then the program's.
void CpuRecorder::AddFrames(const PerfRecord& record, format::CpuSampleRecord& sample) {
  const native::AddressSpace& space = spaces_.Find(record.pid);
  const auto place_of = [&](uint64_t pc) {
    native::CodePlace place;
    if (!space.Find(pc, &place)) place = {nullptr, pc};
    return place;
  };
  const bool wants_stack = options_.backtrace != Backtrace::kNone && WantsStack(record.tid);
  bool is_first = true;
  VisitChain(record.chain, [&](uint64_t address, bool in_kernel) {
    if (!wants_stack && !frames_.empty()) return;
    // Of callers, the call.
    const uint64_t pc = is_first ? address : address - 1;
    is_first = false;
    frames_.push_back(in_kernel ? StackFrame{{nullptr, pc}, true} : StackFrame{place_of(pc)});
  });
  if (!record.has_registers || !wants_stack) {
    if (frames_.empty())
      frames_.push_back(
          {record.in_kernel ? native::CodePlace{nullptr, record.ip} : place_of(record.ip),
           record.in_kernel});
    return;
  }
  places_.clear();
  const native::StackCopy stack(record.stack, record.registers.values[native::kStackPointer]);
  sample.stack_end = static_cast<uint32_t>(
      WalkStack(space, record.registers, stack, kMaxFrames, places_, work_left_));
  for (const native::CodePlace& place : places_) frames_.push_back({place});
}

}  // namespace batchlight::capture
