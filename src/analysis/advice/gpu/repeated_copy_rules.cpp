// Copies to the GPU of what it was given before: the recorder looked at their sources
// (inject/cupti/copy_sources.h).
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

// Of the copies of so many bytes, the part that are repeats: nearly all, or it is not told.
std::map<uint64_t, double> RepeatedSizes(const RunMeasures& run) {
  std::map<uint64_t, double> repeats, copies;
  const std::string text(TrainingProperty(run, "copies.repeated"));
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    const double again = std::strtod(at, &end);
    const double all = std::strtod(end, &end);
    const uint64_t bytes = std::strtoull(end, &end, 10);
    if (end == at) break;
    at = end;
    repeats[bytes] += again;
    copies[bytes] = all;
  }
  std::map<uint64_t, double> parts;
  for (const auto& [bytes, again] : repeats) {
    const double part = std::min(again / std::max(1.0, copies[bytes]), 1.0);
    if (part >= kRepeatedCopies) parts[bytes] = part;  // of a damaged file it may be no number
  }
  return parts;
}

struct RepeatedCopies {
  double count = 0;  // a step
  double bytes = 0;
  double ns = 0;
  bool pageable = false;
  std::vector<TimeSpan> calls;  // of the loop's thread
};

RepeatedCopies FindRepeatedCopies(const RunMeasures& run, const ProcessSteps& main) {
  RepeatedCopies found;
  const std::map<uint64_t, double> parts = RepeatedSizes(run);
  if (parts.empty()) return found;
  const Store& store = *run.store;
  const MemcpysTable& copies = store.memcpys;
  StepLookup steps(&main);
  for (size_t row = 0; row < copies.size(); ++row) {
    const auto part = parts.find(copies.bytes[row]);
    const ApiCallId call = copies.api_call[row];
    if (part == parts.end() || call.IsNone() || copies.end_ns[row] == kOpenEnd) continue;
    if (copies.process[row] != main.process || copies.copy_kind[row] != CopyKind::kHostToDevice)
      continue;
    const int64_t start_ns = store.api_calls.start_ns[call.row()];
    if (!steps.IsSteadyAt(start_ns)) continue;
    found.count += part->second;
    found.bytes += part->second * double(part->first);
    found.ns += part->second * double(copies.end_ns[row] - copies.start_ns[row]);
    found.pageable = found.pageable || copies.source_kind[row] == MemoryKind::kPageable;
    if (store.api_calls.thread[call.row()] != main.thread) continue;
    found.calls.push_back(
        {start_ns, ClosedEnd(store, start_ns, store.api_calls.end_ns[call.row()])});
  }
  const auto count = double(std::max<size_t>(1, main.steady.size()));
  found.count /= count;
  found.bytes /= count;
  found.ns /= count;
  found.calls = UnionOf(std::move(found.calls));
  return found;
}

}  // namespace

void RepeatedCopiesToGpu(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty() || main->thread.IsNone() || run.gpu.empty()) return;
  const RepeatedCopies copies = FindRepeatedCopies(run, *main);
  if (copies.count < kCallOfEveryStep) return;
  // The call of a copy from pageable memory blocks the CPU; of another only what nothing hides.
  const double exposed_ns = std::min(copies.ns, GpuPartNs(run, GpuPart::kCopy));
  const double blocked_ns =
      copies.pageable ? copies.ns * std::min(1.0, CpuExposure(run) * kPageableExposure) : 0;
  const double removable_ns = std::max(exposed_ns, blocked_ns);
  if (removable_ns < kRepeatedCopiesShare * MeanStepNs(run)) return;
  const SampledTime sampled = CodeSamples(*run.store).During(main->thread, copies.calls);
  const std::string where = FunctionTexts(*run.store, sampled, 1);
  const std::string megabytes = Rounded(copies.bytes / 1e6) + " MB";
  findings->push_back(
      {.title = (where.empty() ? std::string("The loop") : where) +
                " copies what the GPU was given before, " + megabytes + " a step",
       .seen =
           MeanCountText(copies.count) + " copies a step come from the same memory on the CPU, " +
           "with the same numbers in it as before: " + megabytes + " in " + TimeOf(copies.ns) + ".",
       .why = "Features, graphs, tables and targets that never change cross the bus in each step, "
              "and the GPU makes room for them each time.",
       .action = "Copy them once before the loop, and keep the copy: data = data.to(device). Where "
                 "the GPU has no room for all, keep the largest of them.",
       .gain_ns = removable_ns * kRepeatedCopiesGain,
       .uncertainty_ns = removable_ns * kRepeatedCopiesUncertainty,
       .evidence = {{.kind = "copy",
                     .name = "Host-to-Device, again",
                     .count = uint64_t(copies.count * double(main->steady.size())),
                     .per_step_ns = copies.ns}},
       .patch = {.place = "",
                 .diff = "+data = data.to(device)\n"
                         " for epoch in range(epochs):\n"
                         "-    data = data.to(device)\n"}});
}

}  // namespace batchlight::advice
