// The least arithmetic and memory traffic that an operator needs, from its inputs: the numerator of
// achieved TFLOP/s, MFU and the roofline. These are algorithmic counts (a fused multiply-add is
// two), not what the kernel executes. Matrix products, convolutions and attention follow the
// formulas of torch.utils.flop_counter; bytes are each input read once and each output written
// once.
#pragma once

#include <cstdint>
#include <string_view>

namespace batchlight {

struct OperatorCost {
  double flops = 0;
  double bytes = 0;
  bool known = false;      // there is a formula, and the inputs have what it needs
  bool matrix = false;     // matrix product, convolution or attention: Tensor Core eligible
  std::string_view dtype;  // of the first tensor: a view into `inputs`
};

// `name`: aten::addmm; `inputs`: OperatorCalls.inputs. A composite operator (aten::linear,
// aten::matmul) has the cost of the products it stands for: count either it or what it calls.
OperatorCost EstimateOperatorCost(std::string_view name, std::string_view inputs);

// True for operators that dispatch the counted ones underneath: aten::linear, aten::matmul,
// aten::conv2d. Count them only when no counted operator was recorded inside.
bool IsCompositeOperator(std::string_view name);

// True for matrix products, convolutions, attention and their backward functions, by name: the
// operators that Tensor Cores can run.
bool IsMatrixOperator(std::string_view name);

}  // namespace batchlight
