#include "ingest/nsys/call_chains.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "ingest/nsys/nsys_rows.h"
#include "nsys/cpu_tables.h"
#include "nsys/info_tables.h"
#include "nsys/own_tables.h"

namespace batchlight::nsys {
namespace {

// What a sample stands for where the processor's cycles triggered it, whose length nobody knows.
constexpr int64_t kUnknownPeriodNs = 1'000'000;
constexpr int64_t kMostPeriodNs = 1'000'000'000;

// nsys's period is of processor time where its software clock triggers.
Result<int64_t> PeriodNs(Load& load) {
  bool by_clock = false;
  int64_t period_ns = 0;
  RETURN_IF_ERROR(VisitRows<NamedValue>(load, kCaptureFacts, [&](const NamedValue& fact) {
    const bool is_ours = fact.name == "sampling.period_ns";
    if (fact.name == "LINUX_PERF_OPTIONS:CPU_IP_TRIGGER_TYPE") by_clock = fact.value == "Software";
    if (!is_ours && fact.name != "LINUX_PERF_OPTIONS:SAMPLING_PERIOD") return;
    by_clock = by_clock || is_ours;
    std::from_chars(fact.value.data(), fact.value.data() + fact.value.size(), period_ns);
  }));
  return by_clock && period_ns > 0 && period_ns <= kMostPeriodNs ? period_ns : kUnknownPeriodNs;
}

// Of Linux nsys says 0, whether the thread could run or not, and 5 where it ended.
SwitchKind LossOf(int64_t state) {
  switch (static_cast<ThreadState>(state)) {
    case ThreadState::kRunning:
      return SwitchKind::kPreempted;
    case ThreadState::kInterruptible:
    case ThreadState::kUninterruptible:
    case ThreadState::kStopped:
    case ThreadState::kTerminated:
    case ThreadState::kWaiting:
      return SwitchKind::kBlocked;
    default:
      return SwitchKind::kOff;
  }
}

struct Depth {
  int64_t depth;
  NativeFrameId frame;
};

}  // namespace

CallChains::CallChains(Load& load)
    : load_(load), is_own_(load.database->Find(OwnTableName("native_stacks")) != nullptr) {}

NativeFrameId CallChains::FrameOf(StringId symbol, StringId module, bool unresolved, bool of_kernel,
                                  int64_t address) {
  Store& store = *load_.store;
  const auto [known, new_module] =
      modules_.try_emplace({module, of_kernel}, NativeModuleId::At(store.native_modules.size()));
  if (new_module) {
    store.native_modules.Append(
        {.path = module, .of_kernel = of_kernel ? YesNo::kYes : YesNo::kNo});
  }
  const auto place = static_cast<uint64_t>(address);
  const auto [frame, added] =
      frames_.try_emplace({known->second, place}, NativeFrameId::At(store.native_frames.size()));
  if (added) {
    store.native_frames.Append({.module = known->second,
                                .address = place,
                                .function = unresolved ? StringId::None() : symbol});
  }
  return frame->second;
}

NativeStackId CallChains::StackOf(NativeFrameId frame, NativeStackId parent) {
  NativeStacksTable& stacks = load_.store->native_stacks;
  const auto [stack, added] =
      stacks_.try_emplace({frame, parent}, NativeStackId::At(stacks.size()));
  if (added) stacks.Append({.frame = frame, .parent = parent});
  return stack->second;
}

// Frames of a chain need not be together in the file, nor in order.
template <typename Table>
Result<ChainStacks> CallChains::LoadChains(const Table& table) {
  ChainStacks stacks;
  if (is_own_ || load_.database->Find(table.name) == nullptr) return stacks;
  std::unordered_map<int64_t, std::vector<Depth>> chains;
  RETURN_IF_ERROR(VisitRows<ChainFrame>(load_, table, [&](const ChainFrame& row) {
    chains[row.id].push_back(
        {row.depth, FrameOf(row.symbol, row.module, row.unresolved.value_or(0) != 0,
                            row.kernel_mode.value_or(0) != 0, row.address.value_or(0))});
  }));
  for (auto& [id, frames] : chains) {
    std::stable_sort(frames.begin(), frames.end(),
                     [](const Depth& a, const Depth& b) { return a.depth > b.depth; });
    NativeStackId stack;
    for (const Depth& frame : frames) stack = StackOf(frame.frame, stack);
    stacks[id] = stack;
  }
  return stacks;
}

Status CallChains::LoadSamples() {
  if (is_own_) return {};
  Store& store = *load_.store;
  ASSIGN_OR_RETURN(const ChainStacks stacks, LoadChains(kSampleCallchains));
  ASSIGN_OR_RETURN(const int64_t period_ns, PeriodNs(load_));
  RememberIds(load_, store.cpu_samples);
  RETURN_IF_ERROR(VisitRows<ThreadSample>(load_, kThreadSamples, [&](const ThreadSample& row) {
    if (row.start_ns < 0) return;
    const auto stack = stacks.find(row.id);
    store.cpu_samples.Append(
        {.start_ns = row.start_ns,
         .thread = row.thread,
         .cpu = static_cast<uint32_t>(row.cpu),
         .cpu_ns = period_ns,
         .native_stack = stack == stacks.end() ? NativeStackId::None() : stack->second});
  }));
  RememberIds(load_, store.cpu_switches);
  return VisitRows<ThreadSwitch>(load_, kThreadSwitches, [&](const ThreadSwitch& row) {
    if (row.start_ns < 0) return;
    store.cpu_switches.Append({.start_ns = row.start_ns,
                               .thread = row.thread,
                               .cpu = static_cast<uint32_t>(row.cpu),
                               .kind = row.in != 0 ? SwitchKind::kOn : LossOf(row.state)});
  });
}

Status CallChains::LoadCudaCalls() {
  ASSIGN_OR_RETURN(const ChainStacks stacks, LoadChains(kCudaCallchains));
  if (stacks.empty()) return {};
  CudaBacktracesTable& backtraces = load_.store->cuda_backtraces;
  RememberIds(load_, backtraces);
  return VisitRows<CudaChain>(load_, kCudaChains, [&](const CudaChain& row) {
    const auto stack = stacks.find(row.id);
    if (stack == stacks.end() || row.process.IsNone()) return;
    backtraces.Append(
        {.process = row.process, .correlation = row.correlation, .native_stack = stack->second});
  });
}

Result<ChainStacks> CallChains::LoadOfOsCalls() { return LoadChains(kOsCallchains); }

}  // namespace batchlight::nsys
