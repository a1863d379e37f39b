// Names of C++ functions as the linker has them and as people read them.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// As abi::__cxa_demangle prints it; `name` itself if it is not a mangled C++ name (extern "C",
// Triton, cuDNN), or one that stands for far more text than any program's.
std::string DemangledName(std::string_view name);

}  // namespace batchlight
