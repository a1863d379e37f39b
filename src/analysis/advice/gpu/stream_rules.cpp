#include <algorithm>
#include <iterator>
#include <numeric>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/gpu/stream_overlap.h"

namespace batchlight::advice {
namespace {

struct CauseWords {
  const char* after;  // "of which 4 ..."
  const char* why;
  const char* action;
  double gain;         // share of what is lost at most
  double uncertainty;  // share of the gain
};

// By StreamWait.
constexpr CauseWords kWords[kStreamWaitCount] = {
    {"after a cudaStreamWaitEvent",
     "An event recorded behind all that a stream has to do makes the other one wait for all of it.",
     "If the pieces do not need each other: let every stream wait for the input, launch on all of "
     "them, then join them once, instead of wait_stream() before and after each piece. If they do, "
     "one stream is enough.",
     kEventWaitGain, kEventWaitUncertainty},
    {"for the legacy default stream",
     "Streams made by cudaStreamCreate wait for the legacy default stream and it for them.",
     "Make streams with cudaStreamNonBlocking, as torch.cuda.Stream() does, or keep work off the "
     "default stream (nvcc --default-stream per-thread).",
     kDefaultStreamGain, kDefaultStreamUncertainty},
    {"for no event",
     "Streams share the driver's queues: what cannot start yet holds up what is behind it.",
     "Launch on the streams in turn, not all of one first; raise CUDA_DEVICE_MAX_CONNECTIONS "
     "where it is set to 1; look whether the kernels' shared memory or registers fill the SMs.",
     kQueueWaitGain, kQueueWaitUncertainty},
};

std::string WaitsOf(const StreamOverlap& overlap, double steps) {
  std::string text;
  for (size_t i = 0; i < kStreamWaitCount; ++i) {
    if (overlap.waits[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + Rounded(double(overlap.waits[i]) / steps) + ' ' +
            kWords[i].after;
  }
  return text;
}

}  // namespace

void SerializedStreams(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->window.mean <= 0) return;
  const ProcessSteps* process = run.steps.Of(gpu->process);
  if (process == nullptr || process->steady.empty()) return;
  const StreamOverlap overlap = FindStreamOverlap(*run.store, run.steps, *gpu);
  if (overlap.streams.size() < 2 || overlap.overlap_share() > kStreamOverlap) return;
  const auto steps = double(process->steady.size());
  const double lost_ns =
      double(std::accumulate(overlap.lost_ns.begin(), overlap.lost_ns.end(), int64_t{0})) / steps;
  if (lost_ns < kStreamLoss * gpu->window.mean) return;
  const auto largest = std::max_element(overlap.lost_ns.begin(), overlap.lost_ns.end());
  const CauseWords& words = kWords[std::distance(overlap.lost_ns.begin(), largest)];
  Finding finding{.title = "Streams work one after the other",
                  .seen = "Of what kernels on " + std::to_string(overlap.streams.size()) +
                          " streams could do side by side they do " +
                          PercentOf(overlap.overlap_share()) +
                          ". Blocks of kernels that were launched waited for another stream a "
                          "step: " +
                          WaitsOf(overlap, steps) + "; side by side with what they waited for " +
                          "they would save up to " + TimeOf(lost_ns) + ".",
                  .why = words.why,
                  .action = words.action};
  for (size_t i = 0; i < kStreamWaitCount; ++i) {
    const double gain_ns = double(overlap.lost_ns[i]) / steps * kWords[i].gain;
    finding.gain_ns += gain_ns;
    finding.uncertainty_ns += gain_ns * kWords[i].uncertainty;
  }
  for (const StreamUse& stream : overlap.streams) {
    if (finding.evidence.size() == 5) break;
    finding.evidence.push_back(
        {.kind = "stream",
         .name = std::to_string(stream.stream) + (stream.is_default ? " (legacy default)" : ""),
         .count = stream.kernels,
         .per_step_ns = double(stream.busy_ns) / steps});
  }
  findings->push_back(std::move(finding));
}

}  // namespace batchlight::advice
