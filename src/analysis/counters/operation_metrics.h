// The counters of operations of tensor cores, by the type of their numbers.
#pragma once

#include <string_view>

namespace batchlight {

struct OperationMetric {
  std::string_view metric;
  std::string_view dtype;  // as PeakTflops knows it
  std::string_view title;
};

inline constexpr OperationMetric kOperationMetrics[] = {
    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", "bf16", "Tensor bf16"},
    {"sm__ops_path_tensor_op_hgmma_src_fp16.sum", "f16", "Tensor fp16"},
    {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", "f16", "Tensor fp16"},
    {"sm__ops_path_tensor_src_fp8.sum", "f8e4m3", "Tensor fp8"},
    {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", "f32", "Tensor tf32"},
    {"sm__ops_path_tensor_src_fp64.sum", "f64", "Tensor fp64"}};

}  // namespace batchlight
