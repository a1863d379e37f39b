#include "report/text/kernel_text.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(KernelText, LeavesOutTypesNamespacesAndParameters) {
  EXPECT_EQ(PlainKernelName("void at::native::vectorized_elementwise_kernel<4, "
                            "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
                            "at::native::CUDAFunctor_add<float>)"),
            "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3>>");
  EXPECT_EQ(PlainKernelName("void (anonymous namespace)::softmax_warp_forward<float>(float*)"),
            "softmax_warp_forward<float>");
  EXPECT_EQ(PlainKernelName("nvjet_hsh_128x128"), "nvjet_hsh_128x128");
  EXPECT_EQ(PlainKernelName("void f<(anonymous namespace)::Op<int> >(int)"), "f<Op<int>>");
  EXPECT_EQ(PlainKernelName("void k<(int)4, std::array<char *, (unsigned long)3>, (bool)0>(int)"),
            "k<4, array<char*, 3>, false>");
  EXPECT_EQ(PlainKernelName(""), "");
  EXPECT_EQ(PlainKernelName("::::(("), "");
}

// One kernel as CUPTI, __cxa_demangle and nsys name it.
TEST(KernelText, OneNameForEverySpelling) {
  const char* spellings[][4] = {
      {"_ZN39_GLOBAL__N__39669faf_7_prog_cu_37580b0a5ScaleIfEEvPT_iS1_",
       "void (anonymous namespace)::Scale<float>(float*, int, float)",
       "void <unnamed>::Scale<float>(T1 *, int, T1)", "Scale<float>"},
      {"_ZN4user39_GLOBAL__N__39669faf_7_prog_cu_37580b0a6ReduceEPfi",
       "user::(anonymous namespace)::Reduce(float*, int)", "user::<unnamed>::Reduce(float *, int)",
       "Reduce"},
      {"_ZN2at6native24vectorized_gather_kernelILi16ElEEvPcS2_PT0_illllb",
       "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, "
       "long, long, bool)",
       "void at::native::vectorized_gather_kernel<(int)16, long>(char *, char *, T2 *, int, long, "
       "long, long, long, bool)",
       "vectorized_gather_kernel<16, long>"},
      {"_ZN2at6native29vectorized_elementwise_kernelILi8EZNS0_25bfloat16_copy_kernel_"
       "cudaERNS_18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_",
       "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda("
       "at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::"
       "bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, "
       "2ul>)",
       "void at::native::vectorized_elementwise_kernel<(int)8, at::native::bfloat16_copy_kernel_"
       "cuda(at::TensorIteratorBase &)::[lambda(float) (instance 1)], std::array<char *, (unsigned "
       "long)2>>(int, T2, T3)",
       "bfloat16_copy_kernel_cuda · vectorized_elementwise_kernel"}};
  for (const auto& [mangled, demangled, of_nsys, label] : spellings) {
    EXPECT_EQ(KernelLabel(mangled), label);
    EXPECT_EQ(KernelLabel(demangled), label);
    EXPECT_EQ(KernelLabel(of_nsys), label);
  }
  EXPECT_EQ(KernelLabel("void at::native::<unnamed>::multi_tensor_apply_kernel<at::native::"
                        "<unnamed>::TensorListMetadata<(int)2>, at::native::<unnamed>::"
                        "UnaryOpFunctor<float, (int)2, (int)1, (int)1>, at::native::Sqrt<float>>"
                        "(T1, T2, T3...)"),
            "UnaryOpFunctor · multi_tensor_apply_kernel");
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
