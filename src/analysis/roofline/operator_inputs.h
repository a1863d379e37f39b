// Reads the `inputs` text of an operator call (src/format/FORMAT.md, "Inputs of an operator"):
// "f32[64, 768], [1, 1], 2, -, [f32[8], f32[8]]".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace batchlight {

struct OperatorInput {
  enum class Kind { kNone, kTensor, kTensorList, kIntegers, kInteger };
  Kind kind = Kind::kNone;
  std::string_view dtype;               // of a tensor: "f32", a view into the parsed text
  std::vector<int64_t> values;          // sizes of a tensor, or the integers
  std::vector<OperatorInput> elements;  // of a tensor list

  int64_t ElementCount() const;  // product of a tensor's sizes; of a list: of all its tensors
};

// Never fails: a part that cannot be read becomes kNone. `text` must outlive the result.
std::vector<OperatorInput> ParseOperatorInputs(std::string_view text);

// Bytes of one element: 4 for f32, bf16 is 2, f8* is 1; 0 for an unknown name.
int DtypeBytes(std::string_view dtype);

}  // namespace batchlight
