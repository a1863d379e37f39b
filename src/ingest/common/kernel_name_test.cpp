#include "ingest/common/kernel_name.h"

#include <gtest/gtest.h>

#include <string>

#include "base/demangled.h"

namespace batchlight {
namespace {

std::string Short(std::string_view mangled) {
  return std::string(ShortKernelName(DemangledName(mangled)));
}

// Mangled and short names that PyTorch's kernels have.
TEST(KernelName, ShortNamesOfPyTorch) {
  EXPECT_EQ(Short("_ZN2at6native24vectorized_gather_kernelILi16ElEEvPcS2_PT0_illllb"),
            "vectorized_gather_kernel");
  EXPECT_EQ(Short("_ZN2at6native29vectorized_elementwise_kernelILi8EZNS0_25bfloat16_copy_kernel_"
                  "cudaERNS_18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_"),
            "vectorized_elementwise_kernel");
  EXPECT_EQ(Short("_ZN43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6320softmax_warp_forwardIN3c10"
                  "8BFloat16ES2_fLi10ELb1ELb0EEEvPT0_PKT_iiiPKbib"),
            "softmax_warp_forward");
  EXPECT_EQ(Short("_ZN2at4cuda6philox12unpack_cudnnENS_15PhiloxCudaStateEPlS3_"), "unpack_cudnn");
  EXPECT_EQ(Short("_ZN2at6native13reduce_kernelILi128ELi4ENS0_8ReduceOpIN3c108BFloat16ENS0_14func_"
                  "wrapper_tIS4_ZNS0_11sum_functorIS4_fS4_EclERNS_14TensorIteratorEEUlffE_EEjS4_"
                  "Li4ELi8EEEEEvT1_"),
            "reduce_kernel");
}

TEST(KernelName, PlainNamesStay) {
  EXPECT_EQ(Short("nvjet_sm90_tst_64x64_64x13_4x2_h_bz_TNT"),
            "nvjet_sm90_tst_64x64_64x13_4x2_h_bz_TNT");
  EXPECT_EQ(Short("triton_poi_fused_add_0d1d"), "triton_poi_fused_add_0d1d");
  EXPECT_EQ(Short(""), "");
}

TEST(KernelName, OddShapes) {
  EXPECT_EQ(ShortKernelName("void (anonymous namespace)::spin(int)"), "spin");
  EXPECT_EQ(ShortKernelName("void a::b<c::d(int)>::e<1 >(f<g>*)"), "e");
  EXPECT_EQ(ShortKernelName("A::operator()(int) const"), "operator()");
  EXPECT_EQ(ShortKernelName("bool x::operator< <int>(x, x)"), "operator< <int>");
  EXPECT_EQ(ShortKernelName("k<(lambda()#1)->T>(int)"), "k");
  EXPECT_EQ(ShortKernelName("<<<"), "<<<");
  EXPECT_EQ(ShortKernelName("("), "(");
}

}  // namespace
}  // namespace batchlight
