#include "timeline/tracks/derived_tracks.h"

#include <algorithm>

#include "analysis/breakdown/phase_stretches.h"
#include "analysis/stages/stages.h"
#include "timeline/rows/lanes.h"
#include "timeline/tracks/collective_tracks.h"

namespace batchlight::timeline {
namespace {

StringId NameOfKind(Timeline& timeline, StepKind kind) {
  const std::string_view label = StepKindName(kind);
  const StringId name = timeline.names().Add(label);
  AddToPalette(timeline, TrackKind::kSteps, {.name = name, .key = label, .label = label});
  return name;
}

}  // namespace

std::function<void(Track& track)> FillRow(const Timeline& timeline, uint32_t begin, uint32_t end) {
  return [&timeline, begin, end](Track& track) {
    std::vector<uint32_t> refs(end - begin);
    for (uint32_t i = 0; i < refs.size(); ++i) refs[i] = begin + i;
    FillRows<NestedLanes>(timeline.events(), refs, track);
  };
}

void AddStageTracks(const StepInputs& inputs, Timeline& timeline, std::vector<TrackPlan>& plans) {
  DerivedTable& table = timeline.NewDerivedTable();
  const RunStages stages = FindStages(inputs, timeline.steps());
  for (const ProcessStages& process : stages.processes) {
    table.begins.push_back(static_cast<uint32_t>(table.name.size()));
    for (const StageSpan& stage : process.spans) {
      const std::string_view label = StageKindName(stage.kind);
      const StringId name = timeline.names().Add(label);
      AddToPalette(timeline, TrackKind::kStages,
                   {.name = name, .key = StageKindKey(stage.kind), .label = label});
      table.Add(stage.start_ns, stage.end_ns, name);
    }
  }
  table.begins.push_back(static_cast<uint32_t>(table.name.size()));
  const uint32_t ref = AddDerivedTable(timeline, "stages", "Stage", table);
  if (ref == kNoRef) return;
  for (size_t i = 0; i < stages.processes.size(); ++i) {
    plans.push_back({.process = stages.processes[i].process,
                     .track = {.kind = TrackKind::kStages, .title = "Stages"},
                     .fill = FillRow(timeline, ref + table.begins[i], ref + table.begins[i + 1])});
  }
}

void AddStepTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  DerivedTable& steps = timeline.NewDerivedTable();
  const std::vector<ProcessSteps>& processes = timeline.steps().processes;
  for (const ProcessSteps& process : processes) {
    steps.begins.push_back(static_cast<uint32_t>(steps.name.size()));
    for (const Step& step : process.steps) {
      steps.Add(step.start_ns, step.end_ns, NameOfKind(timeline, step.kind));
    }
  }
  steps.begins.push_back(static_cast<uint32_t>(steps.name.size()));
  const uint32_t ref = AddDerivedTable(timeline, "steps", "Step", steps);
  if (ref == kNoRef) return;
  for (size_t i = 0; i < processes.size(); ++i) {
    plans.push_back({.process = processes[i].process,
                     .track = {.kind = TrackKind::kSteps, .title = "Steps"},
                     .fill = FillRow(timeline, ref + steps.begins[i], ref + steps.begins[i + 1])});
  }
}

void AddPhaseTracks(const StepInputs& inputs, Timeline& timeline, std::vector<TrackPlan>& plans) {
  DerivedTable& table = timeline.NewDerivedTable();
  const std::vector<ProcessSteps>& processes = timeline.steps().processes;
  for (const ProcessSteps& process : processes) {
    table.begins.push_back(static_cast<uint32_t>(table.name.size()));
    VisitPhaseStretches(inputs, process, [&](const PhaseStretch& stretch) {
      const bool own = stretch.kind == PhaseKind::kUserRange;
      const std::string text = own ? NameWithoutNumbers(inputs.store.Text(stretch.range))
                                   : std::string(PhaseKindName(stretch.kind));
      const StringId name = timeline.names().Add(text);
      AddToPalette(timeline, TrackKind::kPhases,
                   {.name = name,
                    .key = PhaseKindKey(stretch.kind),
                    .label = timeline.names().Text(name.value)});
      table.Add(stretch.start_ns, stretch.end_ns, name);
    });
  }
  table.begins.push_back(static_cast<uint32_t>(table.name.size()));
  const uint32_t ref = AddDerivedTable(timeline, "step_phases", "Phase of a step", table);
  if (ref == kNoRef) return;
  for (size_t i = 0; i < processes.size(); ++i) {
    if (table.begins[i] == table.begins[i + 1]) continue;
    plans.push_back({.process = processes[i].process,
                     .track = {.kind = TrackKind::kPhases, .title = "Phases"},
                     .fill = FillRow(timeline, ref + table.begins[i], ref + table.begins[i + 1])});
  }
}

uint32_t AddDerivedTable(Timeline& timeline, std::string_view key, std::string_view title,
                         const DerivedTable& table) {
  return timeline.events().Add(
      {.key = key,
       .title = title,
       .start_ns = table.start_ns.data(),
       .end_ns = table.end_ns.data(),
       .name = table.name.data(),
       .in_parts = table.in_parts.empty() ? nullptr : table.in_parts.data(),
       .parts = table.parts,
       .waited_for = table.waited_for.empty() ? nullptr : table.waited_for.data(),
       .threads = table.nests ? table.begins : std::vector<uint32_t>(),
       .rows = static_cast<uint32_t>(table.name.size())});
}

void AddTracksOfThreads(Timeline& timeline, std::string_view key, std::string_view title,
                        const DerivedTable& table, const std::vector<ThreadId>& threads,
                        const Track& like, std::vector<TrackPlan>& plans) {
  const uint32_t ref = AddDerivedTable(timeline, key, title, table);
  if (ref == kNoRef) return;
  for (size_t i = 0; i < threads.size(); ++i) {
    if (threads[i].IsNone() || table.begins[i] == table.begins[i + 1]) continue;
    plans.push_back({.process = timeline.store().threads.process[threads[i].row()],
                     .thread = threads[i],
                     .track = like,
                     .fill = FillRow(timeline, ref + table.begins[i], ref + table.begins[i + 1])});
    plans.back().track.thread = threads[i];
  }
}

void AddToPalette(Timeline& timeline, TrackKind kind, const PaletteEntry& entry) {
  std::vector<PaletteEntry>& palette = timeline.palette(kind);
  const bool known = std::any_of(palette.begin(), palette.end(), [&](const PaletteEntry& other) {
    return other.name == entry.name;
  });
  if (!known) palette.push_back(entry);
}

std::vector<TrackPlan> DerivedTracks(const StepInputs& inputs, Timeline& timeline,
                                     std::shared_ptr<const GpuActivity>& gpus) {
  std::vector<TrackPlan> plans;
  AddStageTracks(inputs, timeline, plans);
  AddStepTracks(timeline, plans);
  AddPhaseTracks(inputs, timeline, plans);
  gpus = std::make_shared<const GpuActivity>(inputs);
  AddIdleTracks(*gpus, timeline, plans);
  AddCollectiveTracks(timeline, plans);
  AddMemoryTracks(timeline, plans);
  AddPythonTracks(timeline, plans);
  AddCpuTracks(timeline, plans);
  AddMetricTracks(timeline, plans);
  AddUsageTracks(timeline, plans);
  return plans;
}

}  // namespace batchlight::timeline
