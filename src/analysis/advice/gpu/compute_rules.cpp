#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/gpu/module_of_kernels.h"
#include "analysis/advice/gpu/told_plans.h"
#include "analysis/advice/kernel_evidence.h"
#include "analysis/advice/rules.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

// Kernels chosen by a test, with their share of the kernel time of a step.
struct Selection {
  double per_step_ns = 0;
  double small_grid_ns = 0;  // of that: kernels with fewer blocks than the GPU has SMs
  double share = 0;
  double calls_per_step = 0;
  std::vector<Evidence> evidence;
};

// What compilation and the search for algorithms launch before the steady steps does not count.
double KernelNsPerStep(const RunMeasures& run) {
  double total_ns = 0;
  for (const KernelRow& kernel : run.gpu.kernels) total_ns += kernel.per_step_ns;
  return total_ns;
}

template <typename Test>
Selection Select(const RunMeasures& run, Test&& test) {
  Selection selection;
  const double total_ns = KernelNsPerStep(run);
  if (total_ns == 0) return selection;
  for (const KernelRow& kernel : run.gpu.kernels) {
    if (kernel.per_step_ns == 0 || !test(kernel)) continue;
    selection.per_step_ns += kernel.per_step_ns;
    selection.share += kernel.per_step_ns / total_ns;
    selection.calls_per_step += kernel.calls_per_step;
    if (HasSmallGrid(kernel)) selection.small_grid_ns += kernel.per_step_ns;
    if (selection.evidence.size() >= 5) continue;
    selection.evidence.push_back(KernelEvidence(*run.store, kernel));
  }
  return selection;
}

bool IsFp32WithoutTensorCores(const KernelRow& kernel) {
  return kernel.kind.tensor_core == TensorCoreUse::kNo &&
         kernel.kind.precision == KernelPrecision::kFp32;
}

bool IsTf32(const KernelRow& kernel) { return kernel.kind.precision == KernelPrecision::kTf32; }

bool IsFp32Attention(const KernelRow& kernel) {
  return kernel.kind.kind == KernelKind::kAttention &&
         kernel.kind.precision == KernelPrecision::kFp32;
}

bool IsUnaligned(const KernelRow& kernel) { return kernel.kind.unaligned; }
bool IsConvolution(const KernelRow& kernel) { return kernel.kind.kind == KernelKind::kConvolution; }

bool HasTf32(const RunMeasures& run) {
  return run.store->gpus.size() > 0 && run.store->gpus.compute_major[0] >= 8;
}

// What a faster instruction leaves of a product's time: three quarters go where the whole GPU
// works, a quarter where a few blocks wait for memory most of the time (recurrent layers).
double FasterProductsNs(const RunMeasures& run, const Selection& products, double gain) {
  return EffectiveNs(run, products.per_step_ns - products.small_grid_ns) * gain +
         EffectiveNs(run, products.small_grid_ns) * gain / kSmallGridPart;
}

bool IsLayoutConversion(const KernelRow& kernel) {
  return kernel.kind.layout == KernelLayout::kConversion;
}
bool IsRepacking(const KernelRow& kernel) { return kernel.kind.layout == KernelLayout::kRepacking; }
bool IsNchwOnly(const KernelRow& kernel) { return kernel.kind.layout == KernelLayout::kNchw; }

// One operator after the other reads and writes the whole tensor; a compiled loop does it once.
bool IsPointwise(const KernelRow& kernel) {
  switch (kernel.kind.kind) {
    case KernelKind::kElementwise:
    case KernelKind::kNormalization:
    case KernelKind::kSoftmax:
    case KernelKind::kRandom:
    case KernelKind::kReduction:
      return true;
    case KernelKind::kCopy:
      return !IsLayoutConversion(kernel) && !IsRepacking(kernel);
    default:
      return false;
  }
}

// Kernels that have a finding of their own: of attention that is written out, and of a forward that
// backward runs again.
class ToldElsewhere {
 public:
  explicit ToldElsewhere(const RunMeasures& run)
      : run_(run), attention_(IsAttentionWrittenOut(run)), again_(RecomputedNs(run) > 0) {
    const ProcessSteps* main = run.steps.Main();
    if (!again_ || main == nullptr || main->thread.IsNone()) return;
    for (const PhaseMark& mark : run.inputs->marks.Outermost(main->thread, PhaseKind::kBackward)) {
      AddSpan(backwards_, mark.start_ns, mark.end_ns);
    }
  }

  // A row of kernels, launched at that time.
  bool Has(size_t kernel, int64_t at_ns) {
    const WorkOwner& owner = run_.work.kernels[kernel];
    if (attention_ && run_.forward_parts.attention.Launched(owner)) return true;
    if (!again_ || owner.module.IsNone()) return false;
    const ModuleCallsTable& calls = run_.store->module_calls;
    const int64_t start_ns = calls.start_ns[owner.module.row()];
    const int64_t end_ns = calls.end_ns[owner.module.row()];
    return start_ns <= at_ns && at_ns < end_ns &&
           NsInside(backwards_, start_ns, start_ns + 1, at_) > 0;
  }

 private:
  const RunMeasures& run_;
  bool attention_, again_;
  std::vector<TimeSpan> backwards_;
  size_t at_ = 0;
};

// What one kernel for each row of neighbours would save, ns a step: it passes over the memory that
// the longest of them does, and a little more. A kernel with no such neighbour stays as it is.
double FusableNs(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty()) return 0;
  std::unordered_map<StringId, bool> is_pointwise;
  for (const KernelRow& kernel : run.gpu.kernels) is_pointwise[kernel.name] = IsPointwise(kernel);
  struct Row {
    int64_t total_ns = 0;
    int64_t longest_ns = 0;
  };
  ToldElsewhere elsewhere(run);
  std::unordered_map<uint32_t, Row> rows;  // by stream
  double saved_ns = 0;
  const auto end_row = [&](Row& row) {
    saved_ns += std::max(0.0, double(row.total_ns) - kFusedPasses * double(row.longest_ns));
    row = {};
  };
  const KernelsTable& kernels = run.store->kernels;
  StepLookup lookup(main);
  size_t step = StepLookup::kNone;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels.process[i] != main->process) continue;
    const int64_t at_ns = kernels.api_call[i].IsNone()
                              ? kernels.start_ns[i]
                              : run.store->api_calls.start_ns[kernels.api_call[i].row()];
    if (!lookup.IsSteadyAt(at_ns)) continue;
    if (lookup.RowAt(at_ns) != step) {
      for (auto& [stream, row] : rows) end_row(row);
    }
    step = lookup.RowAt(at_ns);
    Row& row = rows[kernels.stream[i]];
    const auto known = is_pointwise.find(kernels.demangled_name[i]);
    if (known == is_pointwise.end() || !known->second || elsewhere.Has(i, at_ns)) {
      end_row(row);
      continue;
    }
    const int64_t took_ns = kernels.end_ns[i] - kernels.start_ns[i];
    row.total_ns += took_ns;
    row.longest_ns = std::max(row.longest_ns, took_ns);
  }
  for (auto& [stream, row] : rows) end_row(row);
  return saved_ns / double(main->steady.size());
}

}  // namespace

double EffectiveNs(const RunMeasures& run, double kernel_ns) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  const double total_ns = KernelNsPerStep(run);
  if (gpu == nullptr || total_ns == 0) return 0;
  const double computing_ns = GpuPartNs(run, GpuPart::kTensorCore) +
                              GpuPartNs(run, GpuPart::kCompute) + GpuPartNs(run, GpuPart::kGraph) +
                              GpuPartNs(run, GpuPart::kCommunication);
  return kernel_ns * gpu->busy_share * std::min(1.0, computing_ns / total_ns);
}

void Tf32Off(const RunMeasures& run, Findings* findings) {
  if (!HasTf32(run)) return;
  Selection fp32 = Select(run, IsFp32WithoutTensorCores);
  if (fp32.share < kFp32Products) return;
  const double gain_ns = WithinCpuSlack(run, FasterProductsNs(run, fp32, kTf32Gain));
  if (!CanBeSeen(run, gain_ns)) return;
  findings->push_back(
      {.title = "FP32 matrix products do not use Tensor Cores",
       .seen = PercentOf(fp32.share) + " of kernel time is matrix products in full FP32.",
       .why = "TF32 keeps FP32's range and runs them on Tensor Cores, 4 to 8 times as fast.",
       .action =
           "torch.set_float32_matmul_precision(\"high\") (and torch.backends.cudnn.allow_tf32 = "
           "True), or mixed precision.",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kTf32Uncertainty,
       .evidence = std::move(fp32.evidence),
       .patch = {.place = "",
                 .diff = "+torch.set_float32_matmul_precision(\"high\")\n"
                         "+torch.backends.cudnn.allow_tf32 = True\n"}});
}

namespace {

// The outermost module whose forward launches nearly all products of a kind, None: there is none,
// or it learns. Others may compute in 16 bits already.
StringId FrozenModelOfProducts(const RunMeasures& run, bool (*test)(const KernelRow&)) {
  std::unordered_set<StringId> names;
  for (const KernelRow& kernel : run.gpu.kernels) {
    if (kernel.per_step_ns > 0 && test(kernel)) names.insert(kernel.name);
  }
  const Store& store = *run.store;
  std::unordered_map<StringId, int64_t> by_model;
  int64_t all_ns = 0;
  for (size_t row = 0; row < run.work.kernels.size(); ++row) {
    const WorkOwner& owner = run.work.kernels[row];
    if (!names.contains(store.kernels.demangled_name[row])) continue;
    const int64_t ns = ClosedEnd(store, store.kernels.start_ns[row], store.kernels.end_ns[row]) -
                       store.kernels.start_ns[row];
    all_ns += ns;
    ModuleCallId call = owner.module;
    if (call.IsNone() || owner.backward) continue;
    const ModuleCallsTable& modules = store.module_calls;
    while (!modules.parent[call.row()].IsNone()) call = modules.parent[call.row()];
    by_model[modules.path[call.row()]] += ns;
  }
  for (const auto& [model, ns] : by_model) {
    if (double(ns) < kProductsOfOneModel * double(all_ns)) continue;
    const bool learns =
        std::any_of(run.modules.rows.begin(), run.modules.rows.end(), [&](const ModuleRow& row) {
          return row.depth == 0 && row.path == store.Text(model) && row.backward_ns > 0;
        });
    if (!learns) return model;
  }
  return {};
}

// " Nearly all of these ..."; "" where they are of several, or of a model that learns.
std::string WhoseProductsText(const RunMeasures& run, StringId model) {
  if (model.IsNone()) return "";
  return " Nearly all of these are in forwards of `" + std::string(run.store->Text(model)) +
         "`, which learns nothing.";
}

bool IsSingle(const KernelRow& kernel) {
  return IsFp32WithoutTensorCores(kernel) || IsTf32(kernel);
}

}  // namespace

void MixedPrecisionOff(const RunMeasures& run, Findings* findings) {
  if (run.store->gpus.size() > 0 && run.store->gpus.compute_major[0] < 7) return;
  Selection single = Select(run, IsSingle);
  if (single.share < kSingleProducts) return;
  // FP32 products gain most, TF32 ones half after the casts around them; products of odd sizes gain
  // nothing before they are padded. Attention in FP32 is another algorithm than FlashAttention,
  // which takes 16 bits only.
  const Selection fp32 = Select(run, IsFp32WithoutTensorCores);
  const Selection tf32 =
      Select(run, [](const KernelRow& kernel) { return IsTf32(kernel) && !IsUnaligned(kernel); });
  const Selection attention = Select(run, IsFp32Attention);
  const double gain_ns = WithinCpuSlack(
      run, FasterProductsNs(run, fp32, kAmpFp32Gain) + FasterProductsNs(run, tf32, kAmpTf32Gain) +
               EffectiveNs(run, attention.per_step_ns) * kAmpAttentionGain);
  if (!CanBeSeen(run, gain_ns)) return;
  const StringId model = FrozenModelOfProducts(run, IsSingle);
  findings->push_back(
      {.title = "Matrix products run in single precision",
       .seen = PercentOf(single.share) + " of kernel time is matrix products in FP32 or TF32." +
               WhoseProductsText(run, model),
       .why = "BF16 and FP16 run at twice TF32's rate and move half the bytes.",
       .action =
           "with torch.autocast(\"cuda\", dtype=torch.bfloat16): around forward and loss (with a "
           "GradScaler for float16)." +
           std::string(model.IsNone() ? ""
                                      : " Autocast around that model's call, or its weights "
                                        "in 16 bits, is what is missing."),
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kAmpUncertainty,
       .evidence = std::move(single.evidence),
       .patch = {.place = "",
                 .diff = "-loss = loss_function(model(x), y)\n"
                         "+with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
                         "+    loss = loss_function(model(x), y)\n"}});
}

void UnalignedProducts(const RunMeasures& run, Findings* findings) {
  Selection odd = Select(run, IsUnaligned);
  if (odd.share < kUnaligned) return;
  const Selection half = Select(run, [](const KernelRow& kernel) {
    return IsUnaligned(kernel) && kernel.kind.precision == KernelPrecision::kHalf;
  });
  const double gain_ns = WithinCpuSlack(
      run, EffectiveNs(run, half.per_step_ns) * kUnalignedHalfGain +
               EffectiveNs(run, odd.per_step_ns - half.per_step_ns) * kUnalignedGain);
  if (!CanBeSeen(run, gain_ns)) return;
  findings->push_back(
      {.title = "Matrix products have sizes that Tensor Cores take slowly",
       .seen = PercentOf(odd.share) +
               " of kernel time is products whose sizes are odd, or even but no multiple of 4.",
       .why = "Rows that do not start on 16 bytes are loaded element by element.",
       .action = "Pad the size to a multiple of 64 (a vocabulary of 50257 to 50304), or of 8 at "
                 "least: number of classes, vocabulary, hidden size.",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kUnalignedUncertainty,
       .evidence = std::move(odd.evidence)});
}

namespace {

// The module whose own operators take most of the time of kernels that only pass over memory.
ModuleOfKernels PointwiseModule(const RunMeasures& run) {
  const KernelsTable& kernels = run.store->kernels;
  std::unordered_set<StringId> names;
  for (const KernelRow& kernel : run.gpu.kernels) {
    if (IsPointwise(kernel)) names.insert(kernel.name);
  }
  return FindModuleOfKernels(run, [&](size_t row) {
    const bool counts = names.contains(kernels.demangled_name[row]);
    return counts ? double(kernels.end_ns[row] - kernels.start_ns[row]) : -1;
  });
}

// Kernels that pass over memory for so long have tensors of gigabytes.
std::string LargeTensorsText(const ModuleOfKernels& module) {
  if (module.UsualNs() < kLargePassNs) return "";
  return " Tensors are large there, " + TimeOf(module.UsualNs()) +
         " a kernel: an expression that never holds them is better than fusing. Where broadcasting "
         "makes them (x[:, None] - y[None, :]): torch.cdist, a product of matrices, a sum over one "
         "dimension first; where they are scores of positions that have no label: these chosen "
         "before the head.";
}

}  // namespace

void UnfusedPointwise(const RunMeasures& run, Findings* findings) {
  const Selection compiled =
      Select(run, [](const KernelRow& kernel) { return kernel.kind.compiled; });
  Selection pointwise = Select(run, IsPointwise);
  if (compiled.per_step_ns > 0 || pointwise.share < kPointwise) return;
  if (pointwise.calls_per_step < kPointwiseKernels) return;
  const double gain_ns = EffectiveNs(run, FusableNs(run));
  if (!CanBeSeen(run, gain_ns)) return;
  const ModuleOfKernels module = PointwiseModule(run);
  findings->push_back(
      {.title = "Operators that only pass over memory are not fused",
       .seen = PercentOf(pointwise.share) +
               " of kernel time is elementwise operators, norms, softmax and type conversions, one "
               "kernel each." +
               (module.path.IsNone() ? ""
                                     : " " + PercentOf(module.share) + " of it begins in " +
                                           module.Text(*run.store) + ", forward or backward."),
       .why = "Each reads its tensors from memory and writes them back for the next.",
       .action = "torch.compile(model): it fuses neighbours into one kernel; or fused layers (norm "
                 "with activation, cross entropy)." +
                 LargeTensorsText(module),
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kPointwiseUncertainty,
       .evidence = std::move(pointwise.evidence),
       .patch = {.place = "",
                 .diff = "-model = Model().cuda()\n"
                         "+model = torch.compile(Model().cuda())\n"}});
}

void LayoutConversions(const RunMeasures& run, Findings* findings) {
  Selection layout = Select(run, IsLayoutConversion);
  Selection slow = Select(run, IsNchwOnly);
  const Selection convolutions = Select(run, IsConvolution);
  if (layout.share < kLayoutConversions &&
      (slow.share < kNchwNorms || convolutions.share < kConvolutionsToo))
    return;
  // Most of a conversion goes, and the norms and depthwise convolutions of NHWC take a third of the
  // time. What cuDNN repacks itself, it repacks in any layout; NHWC was seen to make that dearer.
  const Selection repacked = Select(run, IsRepacking);
  const bool knows_gain = repacked.share < kRepacking;
  const double gain_ns =
      WithinCpuSlack(run, EffectiveNs(run, layout.per_step_ns) * kConversionsGain +
                              EffectiveNs(run, slow.per_step_ns) * kNchwNormsGain);
  if (!CanBeSeen(run, gain_ns)) return;
  std::string seen = PercentOf(layout.share) + " of kernel time converts between NCHW and NHWC, " +
                     PercentOf(slow.share) + " is norms and depthwise convolutions on NCHW.";
  if (!knows_gain) {
    seen +=
        " cuDNN also repacks the tensors of grouped convolutions, which can take longer in "
        "NHWC: what is gained is not known.";
  }
  std::vector<Evidence> evidence = std::move(layout.evidence);
  evidence.insert(evidence.end(), slow.evidence.begin(), slow.evidence.end());
  findings->push_back(
      {.title = "Convolutions and norms work on NCHW tensors",
       .seen = std::move(seen),
       .why = "Tensor Core convolutions want NHWC: cuDNN converts inputs and outputs each time; "
              "norms and depthwise convolutions of NCHW read memory with gaps.",
       .action = "model.to(memory_format=torch.channels_last), and the same for the input batch.",
       .gain_ns = knows_gain ? gain_ns : 0,
       .uncertainty_ns = knows_gain ? gain_ns * kChannelsLastUncertainty : 0,
       .evidence = std::move(evidence),
       .patch = {.place = "",
                 .diff = "-model = Model().cuda()\n"
                         "+model = Model().cuda().to(memory_format=torch.channels_last)\n"
                         "-x = x.cuda()\n"
                         "+x = x.cuda().to(memory_format=torch.channels_last)\n"}});
}

void CudnnBenchmarkOff(const RunMeasures& run, Findings* findings) {
  if (TrainingProperty(run, "torch.cudnn_benchmark") != "False") return;
  Selection convolutions = Select(run, IsConvolution);
  if (convolutions.share < kConvolutions || ToldPlans(run).convolutions() != nullptr) return;
  findings->push_back(
      {.title = "cuDNN does not look for the fastest convolutions",
       .seen = PercentOf(convolutions.share) + " of kernel time is convolutions, and "
                                               "torch.backends.cudnn.benchmark is off.",
       .why = "With it on, cuDNN times its algorithms once for each size and keeps the fastest: a "
              "tenth of their time at best, often nothing.",
       .action = "torch.backends.cudnn.benchmark = True, if the sizes of the inputs repeat.",
       .evidence = std::move(convolutions.evidence),
       .patch = {.place = "", .diff = "+torch.backends.cudnn.benchmark = True\n"}});
}

}  // namespace batchlight::advice
