// Names of kernels as people read them.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp<...>)"
// -> "reduce_kernel<512, 1, ReduceOp<float>>": no return type, namespaces, parameters.
std::string PlainKernelName(std::string_view demangled);

}  // namespace batchlight
