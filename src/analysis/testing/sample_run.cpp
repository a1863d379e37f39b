#include "analysis/testing/sample_run.h"

#include <algorithm>
#include <string>

#include "analysis/testing/nccl_ranks.h"
#include "analysis/testing/store_builder.h"

namespace batchlight::testing {
namespace {

constexpr int64_t kMs = 1'000'000;

const char* const kOperators[] = {
    "aten::addmm", "aten::mm", "aten::gelu", "aten::_softmax", "aten::native_layer_norm",
    "aten::add_",  "aten::mul"};
const char* const kHostile[] = {
    "</script><script>document.title='broken out'</script>",
    "<img src=x onerror=\"document.title='broken out'\">",
    "quotes \" ' ` and | pipes, commas\nand a line end", "not UTF-8: \xFF\xC0\x80",
    ("a_very_long_kernel_name<cutlass::gemm::Shape<128,256,64>,cutlass::layout::RowMajor>::operator"
     "()(std::vector<float>const&,std::vector<float>&)const::{lambda(int)#1}::tail_end")};

const char* const kKernels[] = {
    "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTT",
    ("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl("
     "at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}, std::array<char*, 2ul>>(int)"),
    ("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>, "
     "true>(Flash_fwd_params)")};

// Pseudo-random numbers that are the same everywhere.
class Random {
 public:
  int64_t Below(int64_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(limit));
  }

 private:
  uint64_t state_ = 7;
};

class Training {
 public:
  explicit Training(const SampleRun& run) : run_(run) {
    const ProcessId process = build_.Process(4711, "train.py", 0);
    main_ = build_.Thread(process);
    if (run_.all_of_gpu) {
      NcclMessage(build_);
      NcclDomain(build_, process);
    }
    build_.Property("command_line", "python3 train.py --epochs 2");
  }

  Store Build() {
    for (size_t step = 0; step < run_.steps; ++step) AddStep(step);
    Store store = build_.Build();
    if (run_.all_of_gpu) NcclFinish(store);
    store.duration_ns = now_;
    store.session_start_utc_ns = 1'760'000'000'000'000'000;
    if (run_.loss) store.losses.Append({.process = ProcessId{0}, .counter = 1, .value = 12345});
    return store;
  }

 private:
  void AddStep(size_t step) {
    const int64_t start = now_;
    const int64_t slow = step == 0 ? 8 : step == 1 ? 3 : 1;
    const int64_t jitter = random_.Below(kMs / 2);
    Phase(batchlight::Phase::kDataLoaderNext, "DataLoader",
          step == run_.steps / 2 ? 30 * kMs : kMs);
    Range("batch_to_device", kMs / 2);
    Forward(run_.forward_ms * kMs * slow + jitter);
    if (run_.all_of_gpu) AddGpuWork(12 * kMs * slow + jitter);
    Phase(batchlight::Phase::kBackward, "backward", 12 * kMs * slow + jitter);
    Phase(batchlight::Phase::kOptimizerStep, "SGD.step", 2 * kMs);
    if (run_.hostile_names) Range(kHostile[step % std::size(kHostile)], kMs / 4);
    build_.Range(main_, "step " + std::to_string(step), start, now_);
    now_ += kMs / 10;
  }

  void Phase(batchlight::Phase phase, const char* name, int64_t length) {
    build_.Phase(main_, phase, name, now_, now_ + length);
    now_ += length;
  }

  void Range(const char* name, int64_t length) {
    build_.Range(main_, name, now_, now_ + length);
    now_ += length;
  }

  void Forward(int64_t length) {
    const int64_t start = now_;
    build_.Range(main_, "forward", start, start + length);
    build_.Module(main_, "TinyTransformer", "TinyTransformer", start, start + length);
    const int64_t layer = length / 5;
    for (int i = 0; i < 4; ++i) {
      const std::string path = "encoder.layers." + std::to_string(i);
      const int64_t begin = start + layer / 2 + i * layer;
      build_.Module(main_, path, "TransformerEncoderLayer", begin, begin + layer);
      build_.Module(main_, path + ".linear1", "Linear", begin + layer / 10, begin + layer / 2);
    }
    AddOperators(start, length);
    now_ += length;
  }

  // In the backward that begins now. Its operators differentiate the last ones of the forward.
  void AddGpuWork(int64_t length) {
    const int64_t slot = length / 8;
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t begin = now_ + i * slot;
      build_.Operator(main_, "AddmmBackward0", begin, begin + slot - 1000, sequence_ - i, 1,
                      OperatorScope::kBackward);
      build_.Operator(main_, "aten::mm", begin + slot / 4, begin + slot / 2);
      AddKernel(kKernels[0], begin + slot / 3, slot / 2);
    }
    const int64_t call_ns = now_ + 5 * slot;
    gpu_free_ = std::max(gpu_free_, call_ns + 5000);
    NcclAllReduce(build_, main_, call_ns, gpu_free_, gpu_free_ + slot);
    gpu_free_ += slot;
    build_.Copy(main_, CopyKind::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 1 << 20,
                call_ns + 6000, gpu_free_, gpu_free_ + slot / 3);
    gpu_free_ += slot / 3;
    build_.ApiCall(main_, "cudaStreamSynchronize", now_ + 6 * slot, gpu_free_ + 1000);
  }

  void AddOperators(int64_t start, int64_t length) {
    const auto count = static_cast<int64_t>(run_.operators_per_step);
    const int64_t slot = length / (count + 1);
    for (int64_t i = 0; i < count; ++i) {
      const auto kind = static_cast<size_t>(random_.Below(std::size(kOperators)));
      const bool hostile = run_.hostile_names && i < int64_t(std::size(kHostile));
      const char* name = hostile ? kHostile[i] : kOperators[kind];
      const int64_t begin = start + i * slot;
      const int64_t end = begin + slot / int64_t(kind + 2) + 1;
      build_.Operator(main_, name, begin, end, run_.all_of_gpu ? ++sequence_ : -1);
      if (run_.gpu) AddKernel(kKernels[kind % std::size(kKernels)], begin + 1, slot / 2);
    }
  }

  // Launched at `call_ns`; the GPU is a little behind and does one kernel after the other.
  void AddKernel(const char* name, int64_t call_ns, int64_t length) {
    gpu_free_ = std::max(gpu_free_, call_ns + 5'000);
    build_.Kernel(main_, name, call_ns, gpu_free_, gpu_free_ + length);
    gpu_free_ += length;
    build_.store().gpu_memory_events.Append(
        {.start_ns = call_ns,
         .process = ProcessId{0},
         .address = blocks_ / 2,
         .bytes = 3u << 20,
         .memory_kind = MemoryKind::kDevice,
         .operation = static_cast<MemoryOperation>(blocks_ % 2)});
    blocks_ += 1 + (call_ns % 3 == 0);
  }

  SampleRun run_;
  int64_t gpu_free_ = 0;
  int64_t sequence_ = 0;  // of the last operator that backward differentiates
  uint64_t blocks_ = 0;
  StoreBuilder build_;
  ThreadId main_;
  Random random_;
  int64_t now_ = 5 * kMs;
};

}  // namespace

Store MakeSampleRun(const SampleRun& run) { return Training(run).Build(); }

}  // namespace batchlight::testing
