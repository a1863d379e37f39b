#include "report/text/roofline_text.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

KernelFigures Kernel(Store& store, std::string_view name, double share) {
  KernelFigures kernel{.name = store.strings.Intern(name), .share = share};
  kernel.roofline = {.counted = true,
                     .operations = 1e9,
                     .type = "Tensor bf16",
                     .per_s = 800e12,
                     .peak_per_s = 900e12,
                     .attainable_per_s = 900e12,
                     .share = 0.889,
                     .roof = "Tensor bf16"};
  return kernel;
}

TEST(RooflineHint, SaysWhereTheLongestKernelStandsAndWhatToDo) {
  Store store;
  KernelReport report;
  report.kernels = {Kernel(store, "short", 0.1), Kernel(store, "nvjet_tst_128x256", 0.6)};
  EXPECT_EQ(
      RooflineHint(store, report),
      "What it means\n"
      "  The longest kernel, nvjet_tst_128x256, takes 60.0 % of the time and does 800 TFLOP/s of "
      "Tensor bf16: 88.9 % of the 900 that its lowest roof, the peak of Tensor bf16, allows\n"
      "     near what Tensor Cores can do: only fewer operations or a smaller type make it "
      "faster\n");
}

TEST(RooflineHint, OfBytesAndOfWhatIsNotKnown) {
  Store store;
  KernelReport report;
  report.kernels = {Kernel(store, "copy", 0.6)};
  KernelRoofline& copy = report.kernels[0].roofline;
  copy = {.counted = true, .share = 0.93, .roof = "DRAM"};
  EXPECT_EQ(
      RooflineHint(store, report),
      "What it means\n"
      "  The longest kernel, copy, takes 60.0 % of the time and does no operations of those that "
      "were counted\n"
      "     moves 93 % of the bytes that DRAM can: fuse it with the kernels before and after it, "
      "which saves their bytes, or use a smaller type\n");
  copy = {.counted = true, .operations = 64, .type = "fp32", .at_most = true, .per_s = 2e12};
  EXPECT_EQ(RooflineHint(store, report),
            "What it means\n"
            "  The longest kernel, copy, takes 60.0 % of the time and does at most 2.00 TFLOP/s of "
            "fp32; what this GPU could do is not known\n");
}

TEST(RooflineHint, NothingWhereNothingWasCounted) {
  Store store;
  KernelReport report;
  EXPECT_EQ(RooflineHint(store, report), "");
  report.kernels = {Kernel(store, "k", 1)};
  report.kernels[0].roofline = {};
  EXPECT_EQ(RooflineHint(store, report), "");
}

}  // namespace
}  // namespace batchlight
