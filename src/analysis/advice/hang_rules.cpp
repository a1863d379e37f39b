// A job that stands: collectives that do not end.
#include <algorithm>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/desync/desync_sentence.h"
#include "analysis/desync/recorded_calls.h"
#include "analysis/ranks/process_ranks.h"

namespace batchlight::advice {
namespace {

// Up to when the process is known to have run.
int64_t EndOf(const Store& store, size_t process) {
  return std::min(store.processes.end_ns[process], store.duration_ns);
}

// Whether a rank's process goes on, or has failed: of jobs that came to their end nothing hung.
bool MayHang(const Store& store) {
  const std::vector<int32_t> ranks = FindProcessRanks(store);
  for (size_t row = 0; row < ranks.size(); ++row) {
    if (ranks[row] >= 0 && store.processes.exit_code[row] != 0) return true;
  }
  return false;
}

// The last moment at which one of these ranks was there, ns.
int64_t EndOfRanks(const Store& store, const std::vector<int32_t>& ranks) {
  const std::vector<int32_t> rank_of = FindProcessRanks(store);
  int64_t end_ns = 0;
  for (size_t row = 0; row < rank_of.size(); ++row) {
    if (std::find(ranks.begin(), ranks.end(), rank_of[row]) == ranks.end()) continue;
    end_ns = std::max(end_ns, EndOf(store, row));
  }
  return end_ns;
}

// " Rank 1 was last seen in `validate`, 41.2 s before."; "" where it recorded nothing.
std::string LastSeen(const Store& store, int32_t rank, int64_t now_ns) {
  const std::vector<int32_t> rank_of = FindProcessRanks(store);
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  size_t last = SIZE_MAX;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const ProcessId process = store.ProcessOf(ranges.thread[row]);
    if (process.IsNone() || rank_of[process.row()] != rank) continue;
    if (store.Text(ranges.message[row]).starts_with("nccl")) continue;
    if (last == SIZE_MAX || ranges.start_ns[row] > ranges.start_ns[last]) last = row;
  }
  if (last == SIZE_MAX) return "";
  const bool inside = ranges.end_ns[last] >= now_ns;
  const int64_t since_ns = now_ns - (inside ? ranges.start_ns[last] : ranges.end_ns[last]);
  return " Rank " + std::to_string(rank) + (inside ? " is in `" : " was last seen in `") +
         std::string(store.Text(ranges.message[last])) + "`, " +
         (inside ? "since " + TimeOf(double(since_ns)) : TimeOf(double(since_ns)) + " before") +
         ".";
}

std::string TitleOf(const Desync& found) {
  const bool one = found.others.size() == 1;
  switch (found.kind) {
    case DesyncKind::kMissing:
      return (one ? "Rank " + std::to_string(found.others[0]) + " does"
                  : std::to_string(found.others.size()) + " ranks do") +
             " not come to a collective that the others wait in";
    case DesyncKind::kDiffers:
      return "Ranks call different collectives, and wait for ever";
    case DesyncKind::kUnfinished:
      break;
  }
  return "A collective does not end";
}

std::string ActionOf(const Desync& found) {
  if (found.kind == DesyncKind::kUnfinished) {
    return "Look at the network and the errors of the GPUs (dmesg: Xid; NCCL_DEBUG=INFO).";
  }
  return "Look for a branch that only some ranks take, loaders that give ranks different numbers "
         "of "
         "batches (drop_last, DistributedSampler, join()), work of rank 0 alone (saving, "
         "validating), and exceptions that one rank catches. `py-spy dump --pid` or "
         "--python-sampling=true tells where it is.";
}

}  // namespace

void CollectiveHang(const RunMeasures& run, Findings* findings) {
  const Store& store = *run.store;
  if (!MayHang(store)) return;
  const std::vector<FlightDump> dumps = LastRecordedCalls(store);
  if (dumps.empty()) return;
  for (const Desync& found : FindDesync(dumps).found) {
    if (found.waiting.empty()) continue;
    const int64_t now_ns = EndOfRanks(store, found.waiting);
    const double waited_ns = double(now_ns - found.since_ns);
    if (waited_ns < std::max(kHangNs, kHangSteps * MeanStepNs(run))) continue;
    Finding& finding = findings->emplace_back();
    finding.rule = "collective-hang";
    finding.title = TitleOf(found);
    finding.seen = DesyncSentence(found) + " They have waited for " + TimeOf(waited_ns) + ".";
    if (!found.others.empty()) finding.seen += LastSeen(store, found.others[0], now_ns);
    finding.why =
        "A collective ends when all ranks of its group have come; until then none of them goes "
        "on.";
    finding.action = ActionOf(found);
    finding.run_gain_ns = waited_ns;
    finding.evidence.push_back({.kind = "call", .name = found.call, .count = found.waiting.size()});
    return;
  }
}

}  // namespace batchlight::advice
