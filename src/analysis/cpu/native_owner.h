// Whose native code it is that samples find, by the names of files.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/store.h"

namespace batchlight {

enum class NativeOwner : uint8_t {
  kSystem,     // the C library, allocators, the kernel, code of no file: whoever calls them
  kPython,     // the interpreter
  kOperators,  // of PyTorch, or of another framework
  kCuda,
  kMath,  // BLAS, oneDNN, OpenMP: of PyTorch's operators and of others
  kOther,
};
NativeOwner OwnerOfNative(std::string_view path);

// The library that a stack works in, if that is none of Python, PyTorch and CUDA nor works for an
// operator: a decoder, a tokenizer, NumPy, an extension of the user's.
struct NativeCallee {
  NativeModuleId module;  // None: there is none
  NativeFrameId frame;    // innermost of the module
};

// Each stack is looked at once. The store must outlive this.
class NativeCallees {
 public:
  explicit NativeCallees(const Store& store);

  NativeCallee Of(NativeStackId stack);

 private:
  NativeCallee Find(NativeStackId stack) const;

  const Store& store_;
  std::vector<NativeOwner> owners_;  // by row of native_modules
  std::unordered_map<NativeStackId, NativeCallee> found_;
};

}  // namespace batchlight
