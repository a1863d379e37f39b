// Names of kernels for people. Mangled names are what CUPTI gives; demangled ones are as
// abi::__cxa_demangle prints them; short ones are the bare name of the function, without return
// type, namespaces, template arguments and parameters: vectorized_elementwise_kernel.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// `mangled` itself if it is not a mangled C++ name (extern "C", Triton, cuDNN).
std::string DemangledKernelName(std::string_view mangled);

// `demangled` is a demangled name.
std::string_view ShortKernelName(std::string_view demangled);

}  // namespace batchlight
