// Short names of kernels: the bare name of the function, without return type, namespaces, template
// arguments and parameters: vectorized_elementwise_kernel.
#pragma once

#include <string_view>

namespace batchlight {

// `demangled` is a demangled name.
std::string_view ShortKernelName(std::string_view demangled);

}  // namespace batchlight
