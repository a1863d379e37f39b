#include "report/kernel_text.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(KernelText, LeavesOutTypesNamespacesAndParameters) {
  EXPECT_EQ(PlainKernelName("void at::native::vectorized_elementwise_kernel<4, "
                            "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
                            "at::native::CUDAFunctor_add<float>)"),
            "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul> >");
  EXPECT_EQ(PlainKernelName("void (anonymous namespace)::softmax_warp_forward<float>(float*)"),
            "softmax_warp_forward<float>");
  EXPECT_EQ(PlainKernelName("nvjet_hsh_128x128"), "nvjet_hsh_128x128");
  EXPECT_EQ(PlainKernelName("void f<(anonymous namespace)::Op<int> >(int)"), "f<Op<int> >");
  EXPECT_EQ(PlainKernelName("void k<(int)4, std::array<char *, (unsigned long)3>, (bool)0>(int)"),
            "k<4, array<char *, 3>, 0>");
  EXPECT_EQ(PlainKernelName(""), "");
  EXPECT_EQ(PlainKernelName("::::(("), "");
}

}  // namespace
}  // namespace batchlight
