#include "base/demangled.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace batchlight {

std::string DemangledName(std::string_view name) {
  std::string text(name);
  if (!name.starts_with("_Z")) return text;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  if (status == 0 && demangled != nullptr) text = demangled.get();
  return text;
}

}  // namespace batchlight
