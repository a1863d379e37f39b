// Names of kernels as people read them: the same for one kernel, whether the input has its mangled
// name or a demangled one, of CUPTI, PyTorch or nsys ("<unnamed>", "(int)4", "array<char *, 2>").
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp<...>)"
// -> "reduce_kernel<512, 1, ReduceOp<float>>": no return type, namespaces, parameters.
std::string PlainKernelName(std::string_view name);

// PyTorch's generic kernels differ only in the functor that they compute, deep inside the name:
// "void at::native::vectorized_elementwise_kernel<4, at::native::BUnaryFunctor<float, float, float,
// at::native::binary_internal::MulFunctor<float>>, ...>(...)" -> "MulFunctor · vectorized_
// elementwise_kernel". Other names as PlainKernelName.
std::string KernelLabel(std::string_view name);

}  // namespace batchlight
