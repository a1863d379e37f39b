#include "report/text/kernel_text.h"

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

TEST(KernelText, GenericKernelsAreLabelledByTheirWork) {
  EXPECT_EQ(KernelLabel("void at::native::vectorized_elementwise_kernel<(int)4, "
                        "at::native::AUnaryFunctor<float, float, float, "
                        "at::native::binary_internal::MulFunctor<float>>, std::array<char *, "
                        "(unsigned long)2>>(int, T2, T3)"),
            "MulFunctor · vectorized_elementwise_kernel");
  EXPECT_EQ(KernelLabel("void at::native::reduce_kernel<(int)128, (int)4, at::native::ReduceOp<"
                        "c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, "
                        "at::native::sum_functor<c10::BFloat16>::operator ()(at::TensorIterator &)"
                        "::[lambda(float, float) (instance 1)]>, (int)4>>(T3)"),
            "sum_functor · reduce_kernel");
  EXPECT_EQ(KernelLabel("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_"
                        "kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]>(int)"),
            "direct_copy_kernel_cuda · unrolled_elementwise_kernel");
  EXPECT_EQ(KernelLabel("nvjet_hsh_128x128"), "nvjet_hsh_128x128");
  EXPECT_EQ(KernelLabel("void at::native::reduce_kernel<int>(int)"), "reduce_kernel<int>");
  EXPECT_EQ(KernelLabel(""), "");
}

}  // namespace
}  // namespace batchlight
