// The calls of the CPU that torch.profiler knows as events - operators, annotations, CUDA calls -
// of all threads in one order: by thread and start, the longest first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/store.h"

namespace batchlight {

// Numbers of distinct names.
class NameNumbers {
 public:
  uint32_t Of(std::string_view name);
  const std::string& Text(uint32_t number) const { return *names_[number]; }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<const std::string*> names_;
};

// The same of strings of the store, by `name_of` them: each is looked at once.
class NumberOfString {
 public:
  using NameOf = std::string_view (*)(std::string_view);
  static constexpr uint32_t kLeftOut = UINT32_MAX - 1;  // `name_of` says "" of a text

  NumberOfString(const Store& store, NameNumbers* names, NameOf name_of);
  uint32_t operator[](StringId string);

 private:
  const Store& store_;
  NameNumbers& names_;
  NameOf name_of_;
  std::vector<uint32_t> numbers_;
};

struct CpuCall {
  static constexpr uint32_t kNone = UINT32_MAX;
  enum class Kind : uint8_t { kOperator, kAnnotation, kApiCall };

  int64_t start_ns;
  int64_t end_ns;
  ThreadId thread;
  uint32_t name;                  // of NameNumbers
  uint32_t operator_row = kNone;  // of operator_calls
  uint32_t api_row = kNone;       // of api_calls
  Kind kind;
  bool async = false;  // ends on another thread: not part of the nesting

  int64_t ns() const { return end_ns - start_ns; }
};

// Without calls that are open at the end and those that PyTorch leaves out.
void VisitCpuCalls(const Store& store, NameNumbers* names,
                   const std::function<void(const CpuCall&)>& visit);

}  // namespace batchlight
