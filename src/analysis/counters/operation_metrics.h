// The counters of operations of tensor cores, by the type of their numbers.
#pragma once

#include <array>
#include <string_view>

namespace batchlight {

struct OperationMetric {
  std::string_view metric;
  std::string_view dtype;  // as PeakTflops knows it
  std::string_view title;
  // Counters of the same operations whose `.peak_sustained` is what dense matrices can reach, each
  // of some chips (Hopper, Blackwell, older ones). That of `metric` itself is twice as high where
  // the cores can leave out zeros (an H200: 8,192 of bf16 a cycle and multiprocessor, dense 4,096).
  std::array<std::string_view, 3> dense = {};
};

inline constexpr OperationMetric kOperationMetrics[] = {
    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum",
     "bf16",
     "Tensor bf16",
     {"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum",
      "sm__ops_path_tensor_op_utchmma_src_bf16_dst_fp32_sparsity_off.sum",
      "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum"}},
    {"sm__ops_path_tensor_op_hgmma_src_fp16.sum",
     "f16",
     "Tensor fp16",
     {"sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum"}},
    {"sm__ops_path_tensor_src_fp16_dst_fp32.sum",
     "f16",
     "Tensor fp16",
     {"sm__ops_path_tensor_op_utchmma_src_fp16_dst_fp32_sparsity_off.sum",
      "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum"}},
    {"sm__ops_path_tensor_src_fp8.sum",
     "f8e4m3",
     "Tensor fp8",
     {"sm__ops_path_tensor_src_fp8_sparsity_off.sum"}},
    {"sm__ops_path_tensor_src_tf32_dst_fp32.sum",
     "f32",
     "Tensor tf32",
     {"sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32_sparsity_off.sum",
      "sm__ops_path_tensor_op_utchmma_src_tf32_dst_fp32_sparsity_off.sum",
      "sm__ops_path_tensor_src_tf32_dst_fp32_sparsity_off.sum"}},
    // No sparsity.
    {"sm__ops_path_tensor_src_fp64.sum",
     "f64",
     "Tensor fp64",
     {"sm__ops_path_tensor_src_fp64.sum"}}};

}  // namespace batchlight
