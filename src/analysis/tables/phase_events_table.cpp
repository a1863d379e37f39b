// The events behind the breakdown as a table; declared in overview_tables.h.
#include "analysis/breakdown/phase_events.h"
#include "analysis/breakdown/track_device.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

struct Phase {
  std::string name;
  int64_t total_ns;
};

struct EventRow {
  const ProcessSteps& process;
  uint32_t pid;
  const std::string& track;
  const Phase& phase;
  size_t steps;
  const EventGroup& group;
};

// Where the CPU was in nothing, the work that the GPU then began tells where in the step it was.
std::string NameOfGroup(const EventGroup& group) {
  const bool waited = group.kind == EventKind::kNone && !group.longest.before.empty();
  return waited ? group.name + " before " + group.longest.before : group.name;
}

Columns<EventRow> GroupTimeColumns() {
  using Row = EventRow;
  return {
      {TimeColumn("per_step", "Per Step", "Mean over the steps that count, without events inside"),
       [](const Row& row) {
         return NanosecondsCell(double(row.group.total_ns) / double(row.steps));
       }},
      {PercentColumn("share", "Share", "Of the phase"),
       [](const Row& row) {
         return 100 * double(row.group.total_ns) / double(row.phase.total_ns);
       }},
      {TimeColumn("total", "Total", "Over the steps that count"),
       [](const Row& row) { return row.group.total_ns; }},
      {RealColumn("count_per_step", "Count per Step", "Mean over the steps that count"),
       [](const Row& row) { return double(row.group.count) / double(row.steps); }},
      {TimeColumn("longest", "Longest", "Most time that one event has in the phase"),
       [](const Row& row) { return row.group.longest.ns; }},
      {CountColumn("longest_step", "Longest Step", "Step of that event"),
       [](const Row& row) { return row.process.steps[row.group.longest.step].number; }},
      {TimeColumn("longest_start", "Longest Start", "Since the start of the session"),
       [](const Row& row) { return row.group.longest.start_ns; }},
      {TextColumn("after", "After", "Idle GPU: the work that began last before the longest wait"),
       [](const Row& row) { return row.group.longest.after; }},
      {TextColumn("before", "Before", "Idle GPU: the work that ended it"),
       [](const Row& row) { return row.group.longest.before; }}};
}

Columns<EventRow> MakeEventColumns() {
  using Row = EventRow;
  Columns<Row> columns = {
      {CountColumn("rank", "Rank", "Rank of the process, empty without ranks"),
       [](const Row& row) { return RankCell(row.process.rank); }},
      {CountColumn("pid", "PID", "Process"), &Row::pid},
      {TextColumn("track", "Track", "CPU, or GPU with its CUDA ordinal"),
       [](const Row& row) { return row.track; }},
      {TextColumn("phase", "Phase", "Row of the breakdown: the events of a phase add up to it"),
       [](const Row& row) { return row.phase.name; }},
      {TextColumn("kind", "Kind", "Of the event"),
       [](const Row& row) { return std::string(EventKindName(row.group.kind)); }},
      {TextColumn("event", "Event",
                  "Innermost call, or work on the GPU; of idle time what the CPU did"),
       [](const Row& row) { return NameOfGroup(row.group); }},
      {TextColumn("operator", "Operator",
                  "Around a CUDA call; of GPU work the one that launched the longest"),
       [](const Row& row) { return row.group.op; }}};
  Append(columns, GroupTimeColumns());
  return columns;
}

const Columns<EventRow>& EventRowColumns() {
  static const Columns<EventRow> columns = MakeEventColumns();
  return columns;
}

void AddRows(const ProcessSteps& process, uint32_t pid, const std::string& track,
             const Phase& phase, size_t steps, const std::vector<EventGroup>& groups,
             ResultTable& table) {
  for (const EventGroup& group : groups) {
    if (group.count == 0) continue;
    AddRow(table, EventRowColumns(), {process, pid, track, phase, steps, group});
  }
}

}  // namespace

ResultTable MakePhaseEventsTable(const RunOverview& overview) {
  ResultTable table =
      EmptyTable("phase_events", "The events behind the phases of a step", EventRowColumns());
  const std::shared_ptr<const PhaseEvents> events = PhaseEventsOf(overview);
  for (size_t p = 0; p < overview.breakdowns.size(); ++p) {
    const ProcessSteps& process = overview.steps.processes[p];
    const uint32_t pid = overview.store->processes.pid[process.process.row()];
    const StepBreakdown& breakdown = overview.breakdowns[p];
    if (const TrackEvents* cpu = events->Of(process.process, kCpuTrack)) {
      for (size_t i = 0; i < breakdown.phases.size(); ++i) {
        const PhaseShare& phase = breakdown.phases[i];
        AddRows(process, pid, "CPU", {phase.name, phase.steady.total}, process.steady.size(),
                cpu->phases[i], table);
      }
    }
    for (const GpuBreakdown& gpu : overview.gpu.breakdowns) {
      const TrackEvents* track = gpu.process == process.process
                                     ? events->Of(gpu.process, TrackDevice(gpu.device))
                                     : nullptr;
      if (track == nullptr) continue;
      for (size_t i = 0; i < kGpuPartCount; ++i) {
        AddRows(process, pid, "GPU " + std::to_string(gpu.device),
                {std::string(GpuPartName(static_cast<GpuPart>(i))), gpu.steady[i].total},
                gpu.window.count, track->phases[i], table);
      }
    }
  }
  return table;
}

}  // namespace batchlight
