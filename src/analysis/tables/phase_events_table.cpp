// The events behind the breakdown as a table; declared in overview_tables.h.
#include "analysis/breakdown/phase_events.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

struct Phase {
  std::string name;
  int64_t total_ns;
};

// Where the CPU was in nothing, the work that the GPU then began tells where in the step it was.
std::string NameOf(const EventGroup& group) {
  const bool waited = group.kind == EventKind::kNone && !group.longest.before.empty();
  return waited ? group.name + " before " + group.longest.before : group.name;
}

void AddRows(const ProcessSteps& process, uint32_t pid, const std::string& track,
             const Phase& phase, size_t steps, const std::vector<EventGroup>& groups,
             ResultTable& table) {
  for (const EventGroup& group : groups) {
    if (group.count == 0) continue;
    const LongestEvent& longest = group.longest;
    const auto per_step = [&](auto value) { return double(value) / double(steps); };
    table.rows.push_back(CellRow(RankCell(process.rank), NumberCell(pid), track, phase.name,
                                 std::string(EventKindName(group.kind)), NameOf(group), group.op,
                                 NanosecondsCell(per_step(group.total_ns)),
                                 100 * double(group.total_ns) / double(phase.total_ns),
                                 group.total_ns, per_step(group.count), longest.ns,
                                 process.steps[longest.step].number, longest.start_ns,
                                 longest.after, longest.before));
  }
}

}  // namespace

ResultTable MakePhaseEventsTable(const RunOverview& overview) {
  ResultTable table{.name = "phase_events", .title = "The events behind the phases of a step"};
  table.columns = {
      CountColumn("Rank", "Rank of the process, empty without ranks"),
      CountColumn("PID", "Process"),
      TextColumn("Track", "CPU, or GPU with its CUDA ordinal"),
      TextColumn("Phase", "Row of the breakdown: the events of a phase add up to it"),
      TextColumn("Kind", "Of the event"),
      TextColumn("Event", "Innermost call, or work on the GPU; of idle time what the CPU did"),
      TextColumn("Operator", "Around a CUDA call; of GPU work the one that launched the longest"),
      TimeColumn("Per Step", "Mean over the steps that count, without events inside"),
      PercentColumn("Share", "Of the phase"),
      TimeColumn("Total", "Over the steps that count"),
      RealColumn("Count per Step", "Mean over the steps that count"),
      TimeColumn("Longest", "Most time that one event has in the phase"),
      CountColumn("Longest Step", "Step of that event"),
      TimeColumn("Longest Start", "Since the start of the session"),
      TextColumn("After", "Idle GPU: the work that began last before the longest wait"),
      TextColumn("Before", "Idle GPU: the work that ended it")};
  const std::shared_ptr<const PhaseEvents> events = PhaseEventsOf(overview);
  for (size_t p = 0; p < overview.breakdowns.size(); ++p) {
    const ProcessSteps& process = overview.steps.processes[p];
    const uint32_t pid = overview.store->processes.pid[process.process.row()];
    const StepBreakdown& breakdown = overview.breakdowns[p];
    if (const TrackEvents* cpu = events->Of(process.process, -1)) {
      for (size_t i = 0; i < breakdown.phases.size(); ++i) {
        const PhaseShare& phase = breakdown.phases[i];
        AddRows(process, pid, "CPU", {phase.name, phase.steady.total}, process.steady.size(),
                cpu->phases[i], table);
      }
    }
    for (const GpuBreakdown& gpu : overview.gpu.breakdowns) {
      const auto device = static_cast<int32_t>(gpu.device);
      const TrackEvents* track =
          gpu.process == process.process ? events->Of(gpu.process, device) : nullptr;
      if (track == nullptr) continue;
      for (size_t i = 0; i < kGpuPartCount; ++i) {
        AddRows(process, pid, "GPU " + std::to_string(device),
                {std::string(GpuPartName(static_cast<GpuPart>(i))), gpu.steady[i].total},
                gpu.window.count, track->phases[i], table);
      }
    }
  }
  return table;
}

}  // namespace batchlight
