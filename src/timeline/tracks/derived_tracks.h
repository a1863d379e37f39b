// Tracks of what analyses found: stages, steps, what they consist of, why a GPU was idle, memory.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "analysis/gpu/gpu_activity.h"
#include "analysis/steps/step_inputs.h"
#include "timeline/tracks/store_tracks.h"

namespace batchlight::timeline {

// Adds their events to the timeline, which knows its steps. In the order of display. `gpus`: what
// was found of them on the way.
std::vector<TrackPlan> DerivedTracks(const StepInputs& inputs, Timeline& timeline,
                                     std::shared_ptr<const GpuActivity>& gpus);

// The parts of DerivedTracks.
void AddStageTracks(const StepInputs& inputs, Timeline& timeline, std::vector<TrackPlan>& plans);
void AddStepTracks(Timeline& timeline, std::vector<TrackPlan>& plans);
void AddPhaseTracks(const StepInputs& inputs, Timeline& timeline, std::vector<TrackPlan>& plans);
void AddIdleTracks(const GpuActivity& gpus, Timeline& timeline, std::vector<TrackPlan>& plans);
void AddMemoryTracks(Timeline& timeline, std::vector<TrackPlan>& plans);
void AddMetricTracks(Timeline& timeline, std::vector<TrackPlan>& plans);
void AddPythonTracks(Timeline& timeline, std::vector<TrackPlan>& plans);
void AddCpuTracks(Timeline& timeline, std::vector<TrackPlan>& plans);
void AddUsageTracks(Timeline& timeline, std::vector<TrackPlan>& plans);

// Refs [begin, end) of a derived table, by start, as calls nested in one track.
std::function<void(Track& track)> FillRow(const Timeline& timeline, uint32_t begin, uint32_t end);

// Adds a derived table to the events and returns its first ref.
uint32_t AddDerivedTable(Timeline& timeline, std::string_view key, std::string_view title,
                         const DerivedTable& table);

// Adds the table and, in order of its parts, a track like `like` for each of the threads.
void AddTracksOfThreads(Timeline& timeline, std::string_view key, std::string_view title,
                        const DerivedTable& table, const std::vector<ThreadId>& threads,
                        const Track& like, std::vector<TrackPlan>& plans);

// An entry of the palette, once.
void AddToPalette(Timeline& timeline, TrackKind kind, const PaletteEntry& entry);

}  // namespace batchlight::timeline
