// What to do about a kernel, from what its counters say.
#include <cmath>
#include <cstdio>
#include <string>

#include "analysis/counters/kernel_figures.h"

namespace batchlight {
namespace {

constexpr double kNearLimit = 0.8;
constexpr double kManySectors = 8;       // a request: twice what 4 bytes a thread side by side take
constexpr double kManyConflicts = 0.25;  // of the wavefronts of shared memory
constexpr double kOccupancyGap = 0.1;
constexpr double kLowOccupancy = 0.5;
constexpr double kLongTail = 0.2;

constexpr std::string_view kNearTensorPeak =
    "near what Tensor Cores can do: only fewer operations or a smaller type make it faster";
constexpr std::string_view kDoublePrecision =
    "computes in double precision: float is many times faster";
constexpr std::string_view kFewerInstructions =
    "more data for each instruction (vectorized access), or a fused kernel that computes less "
    "twice";
constexpr std::string_view kFewerBytes =
    "fuse it with the kernels before and after it, which saves their bytes, or use a smaller type";
constexpr std::string_view kMoreReuse = "reuse in registers and larger tiles need less of it";

std::string Share(double share) {
  const long percent = std::lround(share * 100);
  return percent == 0 && share > 0 ? "less than 1 %" : std::to_string(percent) + " %";
}

// One digit behind the point.
std::string Tenths(double number) {
  const long tenths = std::lround(number * 10);
  return std::to_string(tenths / 10) + "." + std::to_string(std::labs(tenths % 10));
}

// Operations a byte, which may be far below one.
std::string Few(double number) {
  if (number >= 10) return std::to_string(std::lround(number));
  if (number >= 1 || number <= 0) return Tenths(number);
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", number);
  return text;
}

// A product that could run on Tensor Cores and keeps other pipes busy.
bool LeavesTensorCoresIdle(const KernelFigures& kernel) {
  const std::optional<double> tensor = kernel.Use(GpuLimit::kTensor);
  return kernel.kernel_class.is_matrix() && tensor && *tensor < 0.01;
}

std::string TensorAdvice() {
  return "its Tensor Cores are idle: bf16 (autocast) or TF32 "
         "(torch.set_float32_matmul_precision(\"high\")) would use them";
}

std::string ComputeAdvice(const KernelFigures& kernel) {
  if (kernel.compute_limit == GpuLimit::kTensor) {
    return *kernel.compute >= kNearLimit
               ? std::string(kNearTensorPeak)
               : "keeps Tensor Cores busy: larger tiles or inputs that are "
                 "multiples of 128 come nearer to their limit";
  }
  if (LeavesTensorCoresIdle(kernel)) return TensorAdvice();
  if (kernel.compute_limit == GpuLimit::kFp64) return std::string(kDoublePrecision);
  if (kernel.compute_limit == GpuLimit::kXu) {
    return "special functions and conversions of types limit it: fewer exp, tanh and casts";
  }
  return "instructions limit it, not memory: " + std::string(kFewerInstructions);
}

// Where its source says so.
std::string AtLine(const KernelFigures& kernel) {
  return kernel.memory_line.empty() ? "" : " (most wait at " + kernel.memory_line + ")";
}

std::string MemoryAdvice(const KernelFigures& kernel) {
  const double sectors =
      std::max(kernel.sectors_per_load.value_or(0), kernel.sectors_per_store.value_or(0));
  if (kernel.memory_limit != GpuLimit::kDram && sectors >= kManySectors) {
    return Tenths(sectors) +
           " sectors a request instead of 4: threads side by side read addresses "
           "that are not" +
           AtLine(kernel) + "; a contiguous layout would move less";
  }
  if (kernel.memory_limit == GpuLimit::kL1 && kernel.bank_conflicts.value_or(0) >= kManyConflicts) {
    return Share(*kernel.bank_conflicts) + " of its accesses to shared memory wait for a bank" +
           AtLine(kernel) + ": pad or swizzle the tile";
  }
  if (kernel.memory_limit == GpuLimit::kDram) {
    return "moves bytes as fast as memory can: " + std::string(kFewerBytes);
  }
  return "its data come from " + std::string(LimitName(kernel.memory_limit)) + ": " +
         std::string(kMoreReuse);
}

std::string WaitAdvice(const KernelFigures& kernel) {
  if (LeavesTensorCoresIdle(kernel)) return TensorAdvice();
  const Occupancy& theory = kernel.theoretical;
  std::string advice;
  if (!kernel.stalls.empty() && kernel.stalls.front().cycles > 0) {
    advice = "waits most in \"" + std::string(kernel.stalls.front().title) + "\"";
  }
  const auto also = [&advice](const std::string& text) {
    advice += (advice.empty() ? "" : "; ") + text;
  };
  if (theory.fraction > 0 && theory.fraction < kLowOccupancy && theory.limiter != "warps") {
    also(std::string(theory.limiter) + " allow only " + Share(theory.fraction) +
         " of the warps that could hide latency");
  } else if (kernel.occupancy && theory.fraction - *kernel.occupancy > kOccupancyGap) {
    also("occupancy is " + Share(*kernel.occupancy) + " of possible " + Share(theory.fraction) +
         ": blocks differ in length or are few");
  }
  if (advice.empty()) advice = "neither computing nor memory is busy: it waits";
  return advice + "; more work per launch (larger batch, fused operators) hides it";
}

std::string SmallGridAdvice(const KernelFigures& kernel) {
  return "its blocks fill " + Share(kernel.theoretical.waves) +
         " of the GPU: a larger batch, or several such operators as one (foreach, grouped, fused)";
}

std::string AdviceForWork(const KernelFigures& kernel) {
  const double tail = kernel.theoretical.tail_fraction;
  const std::string wave =
      tail < kLongTail ? "" : "; its last wave of blocks leaves the GPU idle for " + Share(tail);
  switch (kernel.bound) {
    case KernelBound::kUnknown:
      return "";
    case KernelBound::kCompute:
      return ComputeAdvice(kernel) + wave;
    case KernelBound::kMemory:
      return MemoryAdvice(kernel) + wave;
    case KernelBound::kBalanced:
      return "computing (" + std::string(LimitName(kernel.compute_limit)) + ") and memory (" +
             std::string(LimitName(kernel.memory_limit)) +
             ") are equally busy: " + MemoryAdvice(kernel) + wave;
    case KernelBound::kLatency:
      return WaitAdvice(kernel) + wave;
    case KernelBound::kSmallGrid:
      return SmallGridAdvice(kernel);
    case KernelBound::kCommunication:
      return "";
  }
  return "";
}

// --- under its roofs -----------------------------------------------------------------------------

std::string IdleAdvice(const KernelFigures& kernel) {
  const double waves = kernel.theoretical.waves;
  return waves > 0 && waves < 1 ? SmallGridAdvice(kernel) : WaitAdvice(kernel);
}

// The lowest roof where that is one of memory.
const LevelTraffic* MemoryRoofOf(const KernelRoofline& roofline) {
  for (size_t i = 0; i < roofline.levels.size(); ++i) {
    if (RoofName(MemoryRoof(i)) == roofline.roof) return &roofline.levels[i];
  }
  return nullptr;
}

std::string PeakAdvice(const KernelFigures& kernel, bool is_near) {
  const KernelRoofline& of = kernel.roofline;
  const std::string type(of.type);
  if (LeavesTensorCoresIdle(kernel)) return TensorAdvice();
  if (!is_near) {
    return "memory would allow all that " + type + " can, and it does " + Share(*of.share) +
           " of that: " + IdleAdvice(kernel);
  }
  if (type.ends_with("fp64")) return std::string(kDoublePrecision);
  if (type.starts_with("Tensor")) return std::string(kNearTensorPeak);
  return "does as many operations as " + type + " can: " + std::string(kFewerInstructions);
}

std::string BytesAdvice(const KernelFigures& kernel, const LevelTraffic& level, bool is_near) {
  const KernelRoofline& of = kernel.roofline;
  const std::string roof(of.roof);
  std::string means;
  if (of.operations > 0) {
    means = "does " + Few(*level.intensity) + " operations for a byte of " + roof +
            " and would need " + Few(*of.peak_per_s / *level.peak_per_s) +
            " to come to the peak of " + std::string(of.type) + "; ";
  }
  means += "moves " + Share(*of.share) + " of the bytes that " + roof + " can: ";
  if (!is_near) return means + IdleAdvice(kernel);
  return means + std::string(roof == RoofName(MemoryRoof::kDram) ? kFewerBytes : kMoreReuse);
}

}  // namespace

std::string RooflineAdvice(const KernelFigures& kernel) {
  const KernelRoofline& of = kernel.roofline;
  if (!of.counted || !of.share || kernel.bound == KernelBound::kCommunication) return "";
  const bool is_near = *of.share >= kNearLimit;
  const LevelTraffic* const level = MemoryRoofOf(of);
  return level == nullptr ? PeakAdvice(kernel, is_near) : BytesAdvice(kernel, *level, is_near);
}

std::string AdviceFor(const KernelFigures& kernel) {
  const std::string advice = AdviceForWork(kernel);
  if (!kernel.is_graph) return advice;
  return "a CUDA graph is measured as a whole: nobody can count its kernels one by one" +
         (advice.empty() ? "" : "; " + advice);
}

}  // namespace batchlight
