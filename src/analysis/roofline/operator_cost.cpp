#include "analysis/roofline/operator_cost.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analysis/roofline/operator_inputs.h"

namespace batchlight {
namespace {

using Inputs = std::vector<OperatorInput>;
using Kind = OperatorInput::Kind;

const OperatorInput* TensorAt(const Inputs& inputs, size_t index) {
  if (index >= inputs.size() || inputs[index].kind != Kind::kTensor) return nullptr;
  return &inputs[index];
}

double Size(const OperatorInput& tensor, size_t from_end) {
  return static_cast<double>(tensor.values[tensor.values.size() - from_end]);
}

double Elements(const OperatorInput& input) { return static_cast<double>(input.ElementCount()); }

double Bytes(const OperatorInput& input) {
  if (input.kind == Kind::kTensorList) {
    double bytes = 0;
    for (const OperatorInput& element : input.elements) bytes += Bytes(element);
    return bytes;
  }
  return Elements(input) * DtypeBytes(input.dtype);
}

double AllInputBytes(const Inputs& inputs) {
  double bytes = 0;
  for (const OperatorInput& input : inputs) bytes += Bytes(input);
  return bytes;
}

// [.., M, K] x [.., K, N]: 2 * batch * M * N * K, batch = the larger of the two.
OperatorCost MatrixProduct(const Inputs& inputs, size_t a_index, size_t b_index,
                           bool transposed_b) {
  OperatorCost cost;
  const OperatorInput* a = TensorAt(inputs, a_index);
  const OperatorInput* b = TensorAt(inputs, b_index);
  if (a == nullptr || b == nullptr || a->values.empty() || b->values.empty()) return cost;
  const double k = Size(*a, 1);
  if (k <= 0) return cost;
  const double rows = Elements(*a) / k;  // batch * M
  double columns = 1;
  if (b->values.size() >= 2) columns = transposed_b ? Size(*b, 2) : Size(*b, 1);
  cost.flops = 2 * rows * k * columns;
  cost.bytes = AllInputBytes(inputs) + rows * columns * DtypeBytes(a->dtype);
  cost.known = cost.matrix = true;
  cost.dtype = a->dtype;
  return cost;
}

int64_t IntegerAt(const Inputs& inputs, size_t index, size_t dimension, int64_t fallback) {
  if (index >= inputs.size()) return fallback;
  const std::vector<int64_t>& values = inputs[index].values;
  if (inputs[index].kind != Kind::kIntegers && inputs[index].kind != Kind::kInteger)
    return fallback;
  if (values.empty()) return fallback;
  return values[std::min(dimension, values.size() - 1)];
}

// Output positions of one channel and image: the product over dimensions of
// (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1.
double OutputPositions(const Inputs& inputs, const OperatorInput& x, const OperatorInput& w) {
  double positions = 1;
  for (size_t d = 0; d + 2 < x.values.size(); ++d) {
    const int64_t stride = std::max<int64_t>(1, IntegerAt(inputs, 3, d, 1));
    const int64_t padding = IntegerAt(inputs, 4, d, 0);
    const int64_t dilation = IntegerAt(inputs, 5, d, 1);
    const int64_t span = x.values[d + 2] + 2 * padding - dilation * (w.values[d + 2] - 1) - 1;
    if (span < 0) return 0;
    const int64_t count = span / stride + 1;
    positions *= static_cast<double>(count);
  }
  return positions;
}

// aten::convolution(input, weight, bias, stride, padding, dilation, transposed, ...):
// 2 * N * K * out * (C / groups) * kernel; the weight [K, C / groups, kernel...] carries C/groups.
OperatorCost Convolution(const Inputs& inputs) {
  OperatorCost cost;
  const OperatorInput* x = TensorAt(inputs, 0);
  const OperatorInput* w = TensorAt(inputs, 1);
  if (x == nullptr || w == nullptr || x->values.size() < 3 ||
      x->values.size() != w->values.size() || inputs.size() < 6) {
    return cost;
  }
  const bool transposed = IntegerAt(inputs, 6, 0, 0) != 0;
  const double batch = static_cast<double>(x->values[0]);
  double positions = 1;
  if (transposed) {
    for (size_t d = 2; d < x->values.size(); ++d) positions *= static_cast<double>(x->values[d]);
  } else {
    positions = OutputPositions(inputs, *x, *w);
  }
  cost.flops = 2 * batch * positions * Elements(*w);
  const double output = batch * static_cast<double>(w->values[transposed ? 1 : 0]) * positions;
  cost.bytes = Bytes(*x) + Bytes(*w) + output * DtypeBytes(x->dtype);
  cost.known = cost.matrix = true;
  cost.dtype = x->dtype;
  return cost;
}

// aten::convolution_backward(grad_output, input, weight, ...): the gradients of input and weight
// each cost what the forward pass does; grad_output has the output's shape.
OperatorCost ConvolutionBackward(const Inputs& inputs) {
  OperatorCost cost;
  const OperatorInput* gradient = TensorAt(inputs, 0);
  const OperatorInput* x = TensorAt(inputs, 1);
  const OperatorInput* w = TensorAt(inputs, 2);
  if (gradient == nullptr || x == nullptr || w == nullptr || gradient->values.size() < 3)
    return cost;
  const double channels = static_cast<double>(gradient->values[1]);
  if (channels <= 0) return cost;
  const double forward = 2 * (Elements(*gradient) / channels) * Elements(*w);
  cost.flops = 2 * forward;
  cost.bytes = 2 * (Bytes(*gradient) + Bytes(*x) + Bytes(*w));
  cost.known = cost.matrix = true;
  cost.dtype = x->dtype;
  return cost;
}

// query [B, H, Sq, D], key [B, Hk, Sk, D], value [B, Hk, Sk, Dv] from `first` on. Forward: Q K^T
// and P V. Backward: five products (recomputed Q K^T, dP, dV, dQ, dK), as the flash algorithms do.
OperatorCost Attention(const Inputs& inputs, size_t first, bool backward) {
  OperatorCost cost;
  const OperatorInput* q = TensorAt(inputs, first);
  const OperatorInput* k = TensorAt(inputs, first + 1);
  const OperatorInput* v = TensorAt(inputs, first + 2);
  if (q == nullptr || k == nullptr || v == nullptr || q->values.size() != 4 ||
      k->values.size() != 4 || v->values.size() != 4) {
    return cost;
  }
  const double rows = Size(*q, 4) * Size(*q, 3) * Size(*q, 2) * Size(*k, 2);  // B H Sq Sk
  const double scores = 2 * rows * Size(*q, 1);
  const double values = 2 * rows * Size(*v, 1);
  cost.flops = backward ? 3 * scores + 2 * values : scores + values;
  cost.bytes = (backward ? 2.0 : 1.0) * (Bytes(*q) + Bytes(*k) + Bytes(*v)) + Bytes(*q);
  cost.known = cost.matrix = true;
  cost.dtype = q->dtype;
  return cost;
}

enum class Formula {
  kProduct01,  // mm, bmm, matmul: inputs 0 and 1
  kProduct12,  // addmm, baddbmm: inputs 1 and 2
  kLinear,     // weight is transposed
  kConvolution,
  kConvolutionBackward,
  kAttention,
  kAttentionBackward,
  kElementwise,  // `flops_per_element` of the largest input, `passes` over it
};

struct Rule {
  std::string_view name;
  Formula formula;
  bool composite = false;
  double flops_per_element = 0;
  double passes = 0;  // reads and writes of the largest input's bytes, besides the other inputs
};

constexpr Rule kRules[] = {
    {"aten::mm", Formula::kProduct01},
    {"aten::bmm", Formula::kProduct01},
    {"aten::mv", Formula::kProduct01},
    {"aten::dot", Formula::kProduct01},
    {"aten::_scaled_mm", Formula::kProduct01},
    {"aten::_int_mm", Formula::kProduct01},
    {"aten::addmm", Formula::kProduct12},
    {"aten::addmm_", Formula::kProduct12},
    {"aten::addmv", Formula::kProduct12},
    {"aten::baddbmm", Formula::kProduct12},
    {"aten::_addmm_activation", Formula::kProduct12},
    {"aten::linear", Formula::kLinear, true},
    {"aten::mkldnn_linear", Formula::kLinear},
    {"aten::matmul", Formula::kProduct01, true},
    {"aten::convolution", Formula::kConvolution},
    {"aten::convolution_overrideable", Formula::kConvolution},
    {"aten::conv1d", Formula::kConvolution, true},
    {"aten::conv2d", Formula::kConvolution, true},
    {"aten::conv3d", Formula::kConvolution, true},
    {"aten::convolution_backward", Formula::kConvolutionBackward},
    {"aten::_scaled_dot_product_flash_attention", Formula::kAttention},
    {"aten::_scaled_dot_product_efficient_attention", Formula::kAttention},
    {"aten::_scaled_dot_product_cudnn_attention", Formula::kAttention},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", Formula::kAttention},
    {"aten::scaled_dot_product_attention", Formula::kAttention, true},
    {"aten::_scaled_dot_product_flash_attention_backward", Formula::kAttentionBackward},
    {"aten::_scaled_dot_product_efficient_attention_backward", Formula::kAttentionBackward},
    {"aten::_scaled_dot_product_cudnn_attention_backward", Formula::kAttentionBackward},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", Formula::kAttentionBackward},
    {"aten::native_layer_norm", Formula::kElementwise, false, 8, 1},
    {"aten::native_layer_norm_backward", Formula::kElementwise, false, 14, 1},
    {"aten::_fused_rms_norm", Formula::kElementwise, false, 5, 1},
    {"aten::native_group_norm", Formula::kElementwise, false, 8, 1},
    {"aten::native_group_norm_backward", Formula::kElementwise, false, 14, 1},
    {"aten::native_batch_norm", Formula::kElementwise, false, 8, 1},
    {"aten::cudnn_batch_norm", Formula::kElementwise, false, 8, 1},
    {"aten::native_batch_norm_backward", Formula::kElementwise, false, 14, 1},
    {"aten::cudnn_batch_norm_backward", Formula::kElementwise, false, 14, 1},
    {"aten::_softmax", Formula::kElementwise, false, 5, 1},
    {"aten::_log_softmax", Formula::kElementwise, false, 5, 1},
    {"aten::_softmax_backward_data", Formula::kElementwise, false, 4, 1},
    {"aten::_log_softmax_backward_data", Formula::kElementwise, false, 4, 1},
    {"aten::embedding", Formula::kElementwise, false, 0, 0},
    {"aten::embedding_dense_backward", Formula::kElementwise, false, 1, 1},
    {"aten::add", Formula::kElementwise, false, 1, 1},
    {"aten::add_", Formula::kElementwise, false, 1, 1},
    {"aten::sub", Formula::kElementwise, false, 1, 1},
    {"aten::mul", Formula::kElementwise, false, 1, 1},
    {"aten::mul_", Formula::kElementwise, false, 1, 1},
    {"aten::div", Formula::kElementwise, false, 1, 1},
    {"aten::div_", Formula::kElementwise, false, 1, 1},
    {"aten::addcmul_", Formula::kElementwise, false, 3, 1},
    {"aten::addcdiv_", Formula::kElementwise, false, 3, 1},
    {"aten::lerp_", Formula::kElementwise, false, 3, 1},
    {"aten::sqrt", Formula::kElementwise, false, 1, 1},
    {"aten::relu", Formula::kElementwise, false, 1, 1},
    {"aten::clamp_min", Formula::kElementwise, false, 1, 1},
    {"aten::threshold_backward", Formula::kElementwise, false, 1, 1},
    {"aten::gelu", Formula::kElementwise, false, 8, 1},
    {"aten::gelu_backward", Formula::kElementwise, false, 14, 1},
    {"aten::silu", Formula::kElementwise, false, 4, 1},
    {"aten::silu_backward", Formula::kElementwise, false, 6, 1},
    {"aten::tanh", Formula::kElementwise, false, 4, 1},
    {"aten::sigmoid", Formula::kElementwise, false, 4, 1},
    {"aten::native_dropout", Formula::kElementwise, false, 2, 1},
    {"aten::copy_", Formula::kElementwise, false, 0, 0},
    {"aten::fill_", Formula::kElementwise, false, 0, 0},
    {"aten::zero_", Formula::kElementwise, false, 0, 0},
    {"aten::sum", Formula::kElementwise, false, 1, 0},
    {"aten::mean", Formula::kElementwise, false, 1, 0},
    {"aten::_fused_adam_", Formula::kElementwise, false, 12, 1},
    {"aten::_fused_adamw_", Formula::kElementwise, false, 12, 1},
    {"aten::_foreach_add_", Formula::kElementwise, false, 1, 1},
    {"aten::_foreach_mul_", Formula::kElementwise, false, 1, 1},
    {"aten::_foreach_lerp_", Formula::kElementwise, false, 3, 1},
    {"aten::_foreach_addcmul_", Formula::kElementwise, false, 3, 1},
    {"aten::_foreach_addcdiv_", Formula::kElementwise, false, 3, 1},
    {"aten::_foreach_sqrt", Formula::kElementwise, false, 1, 1},
    {"aten::_foreach_div_", Formula::kElementwise, false, 1, 1},
};

const Rule* FindRule(std::string_view name) {
  for (const Rule& rule : kRules) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

OperatorCost Elementwise(const Inputs& inputs, const Rule& rule) {
  OperatorCost cost;
  const OperatorInput* largest = nullptr;
  for (const OperatorInput& input : inputs) {
    if (input.kind != Kind::kTensor && input.kind != Kind::kTensorList) continue;
    if (largest == nullptr || Elements(input) > Elements(*largest)) largest = &input;
  }
  if (largest == nullptr) return cost;
  cost.flops = rule.flops_per_element * Elements(*largest);
  cost.bytes = AllInputBytes(inputs) + rule.passes * Bytes(*largest);
  cost.known = true;
  cost.dtype = largest->kind == Kind::kTensor || largest->elements.empty()
                   ? largest->dtype
                   : largest->elements.front().dtype;
  return cost;
}

}  // namespace

OperatorCost EstimateOperatorCost(std::string_view name, std::string_view inputs_text) {
  const Rule* rule = FindRule(name);
  if (rule == nullptr || inputs_text.empty()) return {};
  const Inputs inputs = ParseOperatorInputs(inputs_text);
  switch (rule->formula) {
    case Formula::kProduct01:
      return MatrixProduct(inputs, 0, 1, false);
    case Formula::kProduct12:
      return MatrixProduct(inputs, 1, 2, false);
    case Formula::kLinear:
      return MatrixProduct(inputs, 0, 1, true);
    case Formula::kConvolution:
      return Convolution(inputs);
    case Formula::kConvolutionBackward:
      return ConvolutionBackward(inputs);
    case Formula::kAttention:
      return Attention(inputs, 0, false);
    case Formula::kAttentionBackward:
      return Attention(inputs, 1, true);
    case Formula::kElementwise:
      return Elementwise(inputs, *rule);
  }
  return {};
}

bool IsCompositeOperator(std::string_view name) {
  const Rule* rule = FindRule(name);
  return rule != nullptr && rule->composite;
}

bool IsMatrixOperator(std::string_view name) {
  const Rule* rule = FindRule(name);
  if (rule != nullptr) return rule->formula < Formula::kElementwise;
  constexpr std::string_view kMatrixPrefixes[] = {"MmBackward",
                                                  "BmmBackward",
                                                  "AddmmBackward",
                                                  "BaddbmmBackward",
                                                  "LinearBackward",
                                                  "ConvolutionBackward",
                                                  "ScaledDotProduct",
                                                  "CudnnRnn",
                                                  "aten::_cudnn_rnn",
                                                  "aten::lstm",
                                                  "aten::gru",
                                                  "aten::einsum",
                                                  "aten::_convolution",
                                                  "aten::cudnn_convolution",
                                                  "aten::mkldnn_convolution",
                                                  "aten::mkldnn_rnn_layer",
                                                  "aten::slow_conv",
                                                  "aten::_slow_conv",
                                                  "aten::_grouped_mm",
                                                  "aten::scaled_dot_product",
                                                  "aten::_flash_attention",
                                                  "aten::_efficient_attention"};
  for (const std::string_view prefix : kMatrixPrefixes) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace batchlight
