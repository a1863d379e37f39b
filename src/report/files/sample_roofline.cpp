#include "report/files/sample_roofline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/overview/run_overview.h"

namespace batchlight {
namespace {

constexpr std::string_view kBf16 = "sm__ops_path_tensor_src_bf16_dst_fp32.sum";
constexpr std::string_view kTf32 = "sm__ops_path_tensor_src_tf32_dst_fp32.sum";
constexpr std::string_view kFma = "sm__inst_executed_pipe_fma.sum";

constexpr std::string_view kNotCounted = "not counted";

// One launch, or step.
struct Case {
  std::string_view kernel;
  double time_ns;
  std::string_view work;  // "": none; kNotCounted: nobody knows
  double count;
  double dram_bytes;
  double l2_bytes;
  double l1_bytes;
};

constexpr Case kCases[] = {
    {"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NTT", 90'000, kBf16, 7.4e10, 4.1e7, 3.2e8, 1.2e9},
    {"void vectorized_elementwise_kernel<4, GeluCUDAKernelImpl>(int)", 40'000, kFma, 4.2e6, 1.62e8,
     1.7e8, 1.7e8},
    {"nvjet_tst_64x8_64x16_4x1_v_bz_TNT", 60'000, kBf16, 1.2e10, 1.6e7, 9e7, 6e8},
    {"void CatArrayBatchedCopy<__nv_bfloat16, unsigned int, 3, 64, 64>(int)", 25'000, "", 0, 1.06e8,
     5.4e7, 5.4e7},
    {"void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64, 64, 256, 4>>(int)", 35'000,
     kBf16, 4e9, 9e7, 1e8, 2e8},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32", 110'000, kTf32, 4.3e10, 9e7, 5e8,
     1.4e9},
    {"void indexSelectSmallIndex<float, long, unsigned int, 2, 2, -2>(int)", 8'000, kFma, 9e5, 0,
     2e6, 9e6},
    {"void conv_depthwise2d_forward_kernel<3, float, int>(int)", 50'000, kFma, 6e6, 3e7, 4.3e8,
     8e8},
    {"triton_per_fused_native_layer_norm_0", 12'000, kNotCounted, 0, 3e7, 3e7, 3e7},
    {"void fill_reverse_indices_kernel<long>(int)", 18'000, "", 0, 9e6, 5e6, 5e6},
    {"void cunn_SoftMaxForward<8, float, float, float>(int)", 30'000, kFma, 1.9e7, 6e6, 2e7, 2e8}};
constexpr Case kWholeStep = {"", 6'000'000, kBf16, 1.3e12, 7.5e9, 1.6e10, 5e10};

constexpr std::pair<std::string_view, double> kOfChip[] = {
    {"dram__cycles_elapsed.avg.per_second", 3.2e9},
    {"lts__cycles_elapsed.avg.per_second", 1.7e9},
    {"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained", 540'672},
    {"sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32_sparsity_off.sum.peak_sustained", 270'336},
    {"sm__inst_executed_pipe_fma.sum.peak_sustained", 528},
    {"dram__bytes_read.sum.peak_sustained", 1'500},
    {"lts__lts2xbar_cycles_active.sum.peak_sustained", 160},
    {"l1tex__lsu_writeback_active_mem_lgds.sum.peak_sustained", 132}};

class Counts {
 public:
  Counts(Store& store, ProcessId process, uint32_t range)
      : store_(store), process_(process), range_(range) {}

  void Add(uint32_t launch, double clock_hz, const Case& of) {
    const auto value = [&](std::string_view metric, double number) {
      store_.counter_values.Append({.process = process_,
                                    .range = range_,
                                    .launch = launch,
                                    .metric = store_.strings.Intern(metric),
                                    .value = number});
    };
    value("gpu__time_duration.sum", of.time_ns);
    value("sm__cycles_elapsed.avg.per_second", clock_hz);
    value("dram__bytes_read.sum", of.dram_bytes / 2);
    value("dram__bytes_write.sum", of.dram_bytes / 2);
    value("lts__lts2xbar_cycles_active.sum", of.l2_bytes / 32);
    value("l1tex__lsu_writeback_active_mem_lgds.sum", of.l1_bytes / 128);
    for (const auto& [metric, number] : kOfChip) value(metric, number);
    if (of.work == kNotCounted) return;
    for (const std::string_view work : {kBf16, kTf32, kFma}) {
      value(work, work == of.work ? of.count : 0);
    }
  }

 private:
  Store& store_;
  ProcessId process_;
  uint32_t range_;
};

void AddRange(Store& store, size_t first, size_t last, uint32_t range, uint32_t kernels) {
  const KernelsTable& of = store.kernels;
  store.counter_ranges.Append({.start_ns = of.start_ns[first],
                               .end_ns = of.start_ns[last] + 1,
                               .process = of.process[first],
                               .device = of.device[first],
                               .context = of.context[first],
                               .range = range,
                               .kernels = kernels,
                               .counter_set = store.strings.Intern("roofline")});
}

}  // namespace

void AddSampleRoofline(Store& store) {
  constexpr size_t kMost = 40;
  const Attribution work = BuildOverview(store).work;
  KernelsTable& kernels = store.kernels;
  const size_t first = kernels.size() / 2;
  const size_t last = std::min(first + kMost, kernels.size()) - 1;
  const ProcessId process = kernels.process[first];
  AddRange(store, first, last, 1, uint32_t(last - first + 1));
  Counts counts(store, process, 1);
  std::map<StringId, size_t> cases;  // by operator
  for (size_t row = first; row <= last; ++row) {
    const OperatorCallId op = work.kernels[row].op;
    const StringId name = op.IsNone() ? StringId() : store.operator_calls.name[op.row()];
    const size_t which = cases.try_emplace(name, cases.size()).first->second % std::size(kCases);
    kernels.demangled_name[row] = store.strings.Intern(kCases[which].kernel);
    counts.Add(uint32_t(row - first + 1), 1.62e9 + 1e7 * double(which), kCases[which]);
  }
}

void AddSampleStepRoofline(Store& store) {
  AddRange(store, 0, 0, 2, 0);
  Counts(store, store.kernels.process[0], 2).Add(0, 1.7e9, kWholeStep);
}

}  // namespace batchlight
