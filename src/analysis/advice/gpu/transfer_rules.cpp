#include <algorithm>
#include <map>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/gpu/told_plans.h"
#include "analysis/advice/gpu/wait_loops.h"
#include "analysis/advice/rules.h"
#include "analysis/cuda/cuda_call.h"
#include "analysis/cuda/gpu_event_names.h"
#include "analysis/gpu/steady_waits.h"
#include "analysis/lines/code_samples.h"
#include "analysis/steps/step_clock.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight::advice {
namespace {

// Copies a step from pageable memory to the GPU.
double PageableBatchCopies(const RunMeasures& run) {
  double copies = 0;
  for (const CopyRow& copy : run.gpu.copies) {
    if (copy.source == MemoryKind::kPageable && copy.destination == MemoryKind::kDevice)
      copies += copy.calls_per_step;
  }
  return copies;
}

Evidence EvidenceOf(const CopyRow& copy) {
  return {.kind = "copy",
          .name = std::string(Label(copy.kind)) + ", " + LabelInSentence(copy.source) + " to " +
                  LabelInSentence(copy.destination),
          .count = copy.calls,
          .event = MemcpyName(copy.kind, copy.source, copy.destination)};
}

bool IsCopy(const RunMeasures& run, const WaitRow& wait) {
  const std::string_view name = run.store->Text(wait.operator_name);
  return name == "aten::copy_" || name == "aten::_to_copy" || name == "aten::to";
}

// The innermost range around most of a call's waits outside of operators; "" if there is none.
std::string UsualRange(const RunMeasures& run, StringId call) {
  const Store& store = *run.store;
  const ApiCallsTable& calls = store.api_calls;
  const OperatorCallsTable& operators = store.operator_calls;
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  const IntervalIndex in_operators(operators.thread, operators.start_ns, operators.end_ns);
  const IntervalIndex in_ranges(ranges.thread, ranges.start_ns, ranges.end_ns);
  StepClock clock(store, run.steps);
  std::map<StringId, uint64_t> counts;
  uint64_t waits = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const ThreadId thread = calls.thread[i];
    const int64_t start_ns = calls.start_ns[i];
    if (calls.name[i] != call || !clock.IsSteady(thread, start_ns)) continue;
    if (in_operators.Innermost(thread, start_ns) != kNoRow) continue;
    ++waits;
    const uint32_t range = in_ranges.Innermost(thread, start_ns);
    if (range != kNoRow) ++counts[ranges.message[range]];
  }
  for (const auto& [name, count] : counts) {
    if (2 * count > waits) return std::string(store.Text(name));
  }
  return "";
}

// Where a call waits: " in .item() or bool(tensor)".
std::string PlaceOf(const RunMeasures& run, const WaitRow& wait) {
  const std::string_view name = run.store->Text(wait.operator_name);
  if (name == "aten::_local_scalar_dense" || name == "aten::item") {
    return " in .item() or bool(tensor)";
  }
  if (name == "aten::copy_" || name == "aten::_to_copy") {
    return " in .cpu() or .to(\"cpu\")";
  }
  if (name == "aten::nonzero") return " in nonzero, masked indexing";
  if (!name.empty()) return " in " + std::string(name);
  const std::string range = UsualRange(run, wait.call);
  return range.empty() ? "" : " in range " + range;
}

// The loop that asks the GPU for value after value, of a mean steady step.
struct AskingLoop {
  double beside_waits_ns = 0;  // what it does between its waits
  std::string seen;            // " Most follow each other in ..."; "": there is none
};

AskingLoop FindAskingLoop(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->thread.IsNone() || main->steady.empty()) return {};
  const WaitLoops loops = FindWaitLoops(WaitsInSteadySteps(*run.store, *main));
  const auto steps = double(main->steady.size());
  if (double(loops.waits) < kWaitLoop * steps) return {};  // not in each step
  const CodeSamples samples(*run.store);
  const std::string name =
      samples.empty() ? ""
                      : FunctionTexts(*run.store, samples.During(main->thread, loops.spans), 1);
  return {.beside_waits_ns = double(loops.total_ns - loops.waited_ns) / steps,
          .seen = " Most follow each other" + (name.empty() ? "" : " in " + name) +
                  ": that loop takes " + TimeOf(double(loops.total_ns) / steps) + " of a step."};
}

constexpr const char* kAskOnce =
    "Ask once instead of in a loop: compute all values on the GPU (torch._foreach_norm, "
    "torch.stack) and read them together (.tolist()), or clip with "
    "torch.nn.utils.clip_grad_norm_. ";
constexpr const char* kKeepOnGpu =
    "Keep values on the GPU: collect losses in a tensor and read them every N steps, replace "
    ".item(), .cpu(), print(tensor) and data-dependent shapes inside the loop; use "
    "non_blocking=True for copies.";

Patch ReadSeldom() {
  return {.place = "",
          .diff =
              "-total += loss.item()\n"
              "+total += loss.detach()  # total.item() every N steps\n"};
}

}  // namespace

void HostSynchronization(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->window.mean <= 0) return;
  // What a wait costs: until the CPU has returned and launched again, the GPU has nothing to do.
  const HoldingFunction* held = HolderOfGpu(run);
  const double held_ns = held == nullptr ? 0 : held->AllIdleNs();
  const double idle_ns =
      GpuPartNs(run, GpuPart::kIdleSynchronization) + LaunchIdleNs(run) - held_ns;
  double waits = 0, waited_ns = 0, batch_copies = PageableBatchCopies(run);
  const ToldPlans plans(run);
  Finding finding;
  for (const WaitRow& wait : run.gpu.waits) {
    double calls = wait.calls_per_step;
    if (plans.Has(wait.operator_name)) continue;
    // Copies of a batch from pageable memory wait too: they are a rule of their own.
    if (IsCopy(run, wait)) {
      const double of_batch = std::min(batch_copies, calls);
      batch_copies -= of_batch;
      calls -= of_batch;
    }
    if (calls < kCallOfEveryStep) continue;
    waits += calls;
    waited_ns += wait.per_step_ns * calls / wait.calls_per_step;
    if (finding.evidence.size() < 6) {
      finding.evidence.push_back(
          {.kind = "call",
           .name = std::string(PlainApiName(run.store->Text(wait.call))) + PlaceOf(run, wait),
           .count = wait.calls,
           .per_step_ns = wait.per_step_ns,
           .event = std::string(PlainApiName(run.store->Text(wait.call)))});
    }
  }
  if (held != nullptr) {
    waits -= held->waits;
    waited_ns = std::max(0.0, waited_ns - held->wait_ns);
  }
  if (waits < kCallOfEveryStep || idle_ns < kSyncIdle * gpu->window.mean) return;
  // Without its waits the CPU needs that much less for a step, and the GPU cannot do with less than
  // what it is busy: the step gets shorter by the smaller of the two, if nothing else is in the
  // way. A loop that asks for value after value goes as a whole.
  const AskingLoop asking = held == nullptr ? FindAskingLoop(run) : AskingLoop();
  const double gain_ns = std::min(idle_ns, waited_ns + asking.beside_waits_ns) * kSyncGain;
  if (!CanBeSeen(run, gain_ns)) return;
  finding.title = "The CPU waits for the GPU inside the step";
  finding.seen = Rounded(waits) + " calls a step wait for the GPU, most often " +
                 finding.evidence.front().name + "." + asking.seen;
  finding.why =
      "While the CPU waits (" + TimeOf(waited_ns) +
      " a step) it launches nothing; after each wait the GPU's queue is empty until it has.";
  finding.action = std::string(asking.seen.empty() ? "" : kAskOnce) + kKeepOnGpu;
  finding.gain_ns = gain_ns;
  finding.uncertainty_ns = gain_ns * kSyncUncertainty;
  finding.patch = ReadSeldom();
  findings->push_back(std::move(finding));
}

namespace {

struct PageableTraffic {
  double to_device_bytes = 0;  // of a step
  double from_device_bytes = 0;
  double copies = 0;
  double ns = 0;
  std::vector<Evidence> evidence;

  double bytes() const { return to_device_bytes + from_device_bytes; }

  // Those of a function that is told apart, with all it does.
  void Leave(const HoldingFunction& held) {
    double part = bytes() <= 0 ? 0 : std::min(1.0, held.pageable_bytes / bytes());
    if (part >= 1 - kHeldEdges) part = 1;
    to_device_bytes *= 1 - part;
    from_device_bytes *= 1 - part;
    copies = std::max(0.0, copies - held.pageable_copies);
    ns = std::max(0.0, ns - held.pageable_ns);
  }
};

double ExposedCopyNs(const RunMeasures& run) {
  const HoldingFunction* held = HolderOfGpu(run);
  return std::max(0.0, GpuPartNs(run, GpuPart::kCopy) - (held == nullptr ? 0 : held->copy_ns));
}

PageableTraffic PageableTrafficOf(const RunMeasures& run) {
  PageableTraffic found;
  for (const CopyRow& copy : run.gpu.copies) {
    const bool to_host = copy.destination == MemoryKind::kPageable;
    if (!to_host && copy.source != MemoryKind::kPageable) continue;
    if (copy.calls_per_step < kCallOfEveryStep) continue;
    (to_host ? found.from_device_bytes : found.to_device_bytes) += copy.bytes_per_step;
    found.copies += copy.calls_per_step;
    found.ns += copy.per_step_ns;
    found.evidence.push_back(EvidenceOf(copy));
  }
  return found;
}

// Without those of a function that is told apart; no bytes: too few to be told.
PageableTraffic ToldTraffic(const RunMeasures& run) {
  PageableTraffic traffic = PageableTrafficOf(run);
  const HoldingFunction* held = HolderOfGpu(run);
  if (held != nullptr) traffic.Leave(*held);
  return traffic.bytes() < kPageableBytes ? PageableTraffic() : traffic;
}

std::string ActionForBatches(double bytes) {
  return std::string(
             "DataLoader(..., pin_memory=True) and tensor.to(device, "
             "non_blocking=True).") +
         (bytes < kLargeBatch
              ? ""
              : " " + Rounded(bytes / 1e6) +
                    " MB a step are many: send pictures and sound in the type that they are stored "
                    "in (uint8, int16: a quarter or half of float32's bytes), and convert, "
                    "normalize and augment on the GPU.");
}

std::string ActionForCopies(const PageableTraffic& traffic, bool to_host, bool frees) {
  const std::string batches = ActionForBatches(traffic.to_device_bytes);
  if (!to_host) return batches;
  return "Work with them on the GPU where that is possible (averages of weights, metrics), "
         "or do it every N steps; what must go to the CPU goes into a pinned tensor: "
         "torch.empty(..., pin_memory=True).copy_(tensor, non_blocking=True)." +
         (frees ? " Batches: " + batches : "");
}

}  // namespace

double FreedBatchesNs(const RunMeasures& run) {
  if (ToldTraffic(run).to_device_bytes <= 0) return 0;
  const double idle_ns = OutsideIdleNs(run) - HeldOutsideIdleNs(run);
  return std::clamp(run.loop_work.python.freeing_ns, 0.0, std::max(0.0, idle_ns));
}

void PageableCopies(const RunMeasures& run, Findings* findings) {
  const PageableTraffic traffic = ToldTraffic(run);
  if (traffic.bytes() <= 0) return;
  const bool to_host = traffic.from_device_bytes > traffic.to_device_bytes;
  const double saved_ns = std::max(0.0, traffic.ns - traffic.bytes() / kPinnedCopyRate);
  Finding finding;
  finding.title = to_host ? "Tensors are copied to pageable memory of the CPU"
                          : "Batches are copied from pageable memory";
  finding.seen = Rounded(traffic.copies) + " copies a step move " + Rounded(traffic.bytes() / 1e6) +
                 " MB from or to pageable memory in " + TimeOf(traffic.ns) + ".";
  finding.why =
      "The driver copies pageable memory by way of a pinned buffer; the call blocks the CPU "
      "and non_blocking has no effect.";
  // From pinned memory, copies run at the rate of the bus and beside the computing: the exposed
  // part of them disappears, and the CPU no longer waits in them.
  const double exposed_ns = std::min(traffic.ns, ExposedCopyNs(run));
  const double freeing_ns = FreedBatchesNs(run);
  const bool frees = CanBeSeen(run, freeing_ns);
  if (frees) {
    finding.seen += std::string(to_host ? " Behind those to the GPU" : " Behind them") +
                    " the loop frees the batch's memory for " + TimeOf(freeing_ns) +
                    ": what workers share is given back page by page.";
  }
  finding.action = ActionForCopies(traffic, to_host, frees);
  finding.gain_ns = std::max(saved_ns * std::min(1.0, CpuExposure(run) * kPageableExposure),
                             exposed_ns * kPageableGain) +
                    freeing_ns * kPageableGain;
  finding.uncertainty_ns = finding.gain_ns * kPageableUncertainty;
  finding.evidence = traffic.evidence;
  if (!to_host) {
    finding.patch = {.place = RecordedPlace(run, "site.dataloader"),
                     .diff =
                         "-loader = DataLoader(dataset, batch_size)\n"
                         "+loader = DataLoader(dataset, batch_size, pin_memory=True)\n"
                         "-x = x.to(device)\n"
                         "+x = x.to(device, non_blocking=True)\n"};
  }
  findings->push_back(std::move(finding));
}

namespace {

constexpr const char* kCopyAhead =
    "-for x in loader:\n"
    "-    x = x.to(device)\n"
    "+def copied_ahead(loader):  # pin_memory=True\n"
    "+    copies, ready = torch.cuda.Stream(), None\n"
    "+    for x in loader:\n"
    "+        with torch.cuda.stream(copies):\n"
    "+            coming = x.to(device, non_blocking=True)\n"
    "+        if ready is not None:\n"
    "+            yield ready\n"
    "+        torch.cuda.current_stream().wait_stream(copies)\n"
    "+        coming.record_stream(torch.cuda.current_stream())\n"
    "+        ready = coming\n"
    "+    if ready is not None:\n"
    "+        yield ready\n"
    "+for x in copied_ahead(loader):\n";

// Whether copies from the GPU take more of a step than those to it.
bool CopiesMoreFromGpu(const RunMeasures& run) {
  double from_ns = 0, to_ns = 0;
  for (const CopyRow& copy : run.gpu.copies) {
    if (copy.kind == CopyKind::kDeviceToHost) from_ns += copy.per_step_ns;
    if (copy.kind == CopyKind::kHostToDevice) to_ns += copy.per_step_ns;
  }
  return from_ns > to_ns;
}

}  // namespace

void ExposedCopies(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->window.mean <= 0) return;
  const double exposed_ns = ExposedCopyNs(run);
  const double share = exposed_ns / gpu->window.mean;
  if (share < kExposedCopies) return;
  const bool from_gpu = CopiesMoreFromGpu(run);
  Finding finding{
      .title = "Copies are not hidden behind computing",
      .seen =
          "Copies run alone for " + TimeOf(exposed_ns) + " of a step (" + PercentOf(share) + ").",
      .why = "Copies on the stream that computes wait for it, and it for them.",
      .action = from_gpu ? "Copy results on a stream of its own into pinned memory with "
                           "non_blocking=True, and read them a step later; keep on the GPU what "
                           "nobody reads on the CPU."
                         : "Copy the next batch on a stream of its own while the current step "
                           "computes (a prefetcher), from pinned memory with non_blocking=True.",
      .gain_ns = exposed_ns * kExposedCopiesGain,
      .uncertainty_ns = exposed_ns * kExposedCopiesUncertainty};
  for (const CopyRow& copy : run.gpu.copies) {
    if (copy.calls_per_step < kCallOfEveryStep) continue;
    finding.evidence.push_back(EvidenceOf(copy));
  }
  if (!from_gpu) {
    finding.patch = {.place = RecordedPlace(run, "site.dataloader"), .diff = kCopyAhead};
  }
  findings->push_back(std::move(finding));
}

Allocations AllocationsOutside(const RunMeasures& run, const ToldPlans& plans) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || run.gpu.empty() || double(main->steady.size()) < kAllocationSteps)
    return {};
  const Store& store = *run.store;
  const ApiCallsTable& calls = store.api_calls;
  // The first steps may still find the sizes they need: what counts goes on in the second half.
  const size_t half = main->steady.size() / 2;
  const int64_t second_half_ns = main->steps[main->steady[half]].start_ns;
  const size_t steps = main->steady.size() - half;
  StepLookup lookup(main);
  uint64_t count = 0;
  int64_t total_ns = 0;
  for (size_t row = 0; row < calls.size(); ++row) {
    const std::string_view name = store.Text(calls.name[row]);
    if (!name.starts_with("cudaMalloc_") && !name.starts_with("cudaFree_") &&
        name != "cudaMalloc" && name != "cudaFree") {
      continue;
    }
    if (calls.end_ns[row] == kOpenEnd || calls.start_ns[row] < second_half_ns ||
        !lookup.IsSteadyAt(calls.start_ns[row]) ||
        plans.Holds(calls.thread[row], calls.start_ns[row])) {
      continue;
    }
    ++count;
    total_ns += calls.end_ns[row] - calls.start_ns[row];
  }
  const double per_step_ns = double(total_ns) / double(steps);
  if (kAllocationSteps * double(count) < double(steps)) return {};
  if (per_step_ns < kAllocationShare * MeanStepNs(run)) return {};
  return {.count = count, .per_step_ns = per_step_ns};
}

void AllocatorRetries(const RunMeasures& run, Findings* findings) {
  const ToldPlans plans(run);
  const auto [count, per_step_ns] = AllocationsOutside(run, plans);
  if (count == 0 || plans.times_algorithms()) return;
  findings->push_back(
      {.title = "GPU memory is allocated and released while training",
       .seen = std::to_string(count) + " calls of cudaMalloc and cudaFree in steady steps take " +
               TimeOf(per_step_ns) + " a step.",
       .why = "The caching allocator had no block that fits: fragmentation by changing sizes, or "
              "memory "
              "is nearly full. cudaFree waits for the GPU.",
       .action = "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; pad inputs to a few sizes; "
                 "leave more memory free; do not call torch.cuda.empty_cache() in the loop.",
       .gain_ns = per_step_ns,
       .uncertainty_ns = per_step_ns * kAllocationUncertainty,
       .evidence = {{.kind = "call",
                     .name = "cudaMalloc, cudaFree",
                     .count = count,
                     .per_step_ns = per_step_ns}}});
}

void CpuTensors(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->window.mean <= 0) return;
  const double idle_ns = GpuPartNs(run, GpuPart::kIdleCpuTensors) - OwnCpuTensorsNs(run) -
                         HeldIdleNs(run, GpuPart::kIdleCpuTensors);
  if (idle_ns < kCpuTensors * gpu->window.mean) return;
  const std::string names = FunctionTexts(*run.store, gpu->idle_cpu_tensors);
  const std::string share = PercentOf(idle_ns / gpu->window.mean);
  findings->push_back(
      {.title = names.empty()
                    ? "Operators on tensors of the CPU take " + share + " of a step"
                    : names + ": operators on tensors of the CPU take " + share + " of a step",
       .seen = "For " + TimeOf(idle_ns) + " of a step (" + share +
               ") the GPU idles while operators compute on tensors of the CPU" +
               (names.empty() ? "." : ", in " + names + "."),
       .why = "The CPU computes many times more slowly than the GPU, which has nothing to do "
              "meanwhile, and tensors are copied between the two.",
       .action = "Keep these tensors on the GPU (averages of weights, metrics, losses, buffers of "
                 "samples), which saves the copies too; build batches in the DataLoader's workers; "
                 "or do it every N steps.",
       .gain_ns = idle_ns * kCpuTensorsGain,
       .uncertainty_ns = idle_ns * kCpuTensorsUncertainty,
       .evidence = {{.kind = "part",
                     .name = std::string(GpuPartName(GpuPart::kIdleCpuTensors)),
                     .per_step_ns = idle_ns}}});
}

}  // namespace batchlight::advice
