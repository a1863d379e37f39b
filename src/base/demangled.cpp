#include "base/demangled.h"

#include <utility>

// Of libstdc++, beside abi::__cxa_demangle: hands the text over in pieces, and returns 0, or less
// if the name is none.
extern "C" int __gcclibcxx_demangle_callback(  // NOLINT(bugprone-reserved-identifier)
    const char* mangled, void (*take)(const char* text, size_t bytes, void* to), void* to);

namespace batchlight {
namespace {

// A name refers to its own parts: 400 bytes that mean harm stand for gigabytes. Those of templates
// over templates are ten times as long as what the linker has.
constexpr size_t kMostTimes = 32;
constexpr size_t kAlwaysBytes = 4096;

struct TooLong {};

struct Text {
  std::string text;
  size_t most;
};

// Nothing but this ends the printing: its callers, in C, hold nothing that would have to be freed.
void Take(const char* text, size_t bytes, void* to) {
  auto& taken = *static_cast<Text*>(to);
  if (bytes > taken.most - taken.text.size()) throw TooLong();
  taken.text.append(text, bytes);
}

}  // namespace

std::string DemangledName(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  const std::string mangled(name);
  Text demangled{{}, kAlwaysBytes + kMostTimes * name.size()};
  try {
    if (__gcclibcxx_demangle_callback(mangled.c_str(), Take, &demangled) == 0) {
      return std::move(demangled.text);
    }
  } catch (const TooLong&) {
  }
  return std::string(name);
}

}  // namespace batchlight
