// What to do about a kernel, from what its counters say.
#include <cmath>
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

std::string Share(double share) {
  const long percent = std::lround(share * 100);
  return percent == 0 && share > 0 ? "less than 1 %" : std::to_string(percent) + " %";
}

// One digit behind the point.
std::string Tenths(double number) {
  const long tenths = std::lround(number * 10);
  return std::to_string(tenths / 10) + "." + std::to_string(std::labs(tenths % 10));
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
               ? "near what Tensor Cores can do: only fewer operations or a "
                 "smaller type make it faster"
               : "keeps Tensor Cores busy: larger tiles or inputs that are "
                 "multiples of 128 come nearer to their limit";
  }
  if (LeavesTensorCoresIdle(kernel)) return TensorAdvice();
  if (kernel.compute_limit == GpuLimit::kFp64) {
    return "computes in double precision: float is many times faster";
  }
  if (kernel.compute_limit == GpuLimit::kXu) {
    return "special functions and conversions of types limit it: fewer exp, tanh and casts";
  }
  return "instructions limit it, not memory: more data for each instruction (vectorized access), "
         "or "
         "a fused kernel that computes less twice";
}

std::string MemoryAdvice(const KernelFigures& kernel) {
  const double sectors =
      std::max(kernel.sectors_per_load.value_or(0), kernel.sectors_per_store.value_or(0));
  if (kernel.memory_limit != GpuLimit::kDram && sectors >= kManySectors) {
    return Tenths(sectors) +
           " sectors a request instead of 4: threads side by side read addresses "
           "that are not; a contiguous layout would move less";
  }
  if (kernel.memory_limit == GpuLimit::kL1 && kernel.bank_conflicts.value_or(0) >= kManyConflicts) {
    return Share(*kernel.bank_conflicts) +
           " of its accesses to shared memory wait for a bank: pad or "
           "swizzle the tile";
  }
  if (kernel.memory_limit == GpuLimit::kDram) {
    return "moves bytes as fast as memory can: fuse it with the kernels before and after it, which "
           "saves their bytes, or use a smaller type";
  }
  return "its data come from " + std::string(LimitName(kernel.memory_limit)) +
         ": reuse in registers and larger tiles need less of it";
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
      return "its blocks fill " + Share(kernel.theoretical.waves) +
             " of the GPU: a larger batch, or several such operators as one (foreach, grouped, "
             "fused)";
    case KernelBound::kCommunication:
      return "";
  }
  return "";
}

}  // namespace

std::string AdviceFor(const KernelFigures& kernel) {
  const std::string advice = AdviceForWork(kernel);
  if (!kernel.is_graph) return advice;
  return "a CUDA graph is measured as a whole: nobody can count its kernels one by one" +
         (advice.empty() ? "" : "; " + advice);
}

}  // namespace batchlight
