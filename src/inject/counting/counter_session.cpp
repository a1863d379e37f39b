#include "inject/counting/counter_session.h"

#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject::cupti {

using counters::Call;
using counters::kSuccess;

constexpr uint32_t kOutOfMemory = 8;  // CUPTI_ERROR_OUT_OF_MEMORY

bool CounterSession::Check(const char* call, uint32_t result) {
  if (result == kSuccess) return true;
  failed_call_ = call;
  result_ = result;
  return false;
}

bool CounterSession::Enable(void* context) {
  counters::RangeEnableParams params{};
  params.context = context;
  if (!Check("cuptiRangeProfilerEnable", Call(api_.range_enable, params))) return false;
  profiler_ = params.profiler;
  return true;
}

bool CounterSession::MakeData(const CounterPass& pass, size_t ranges) {
  counters::RangeDataSizeParams size{};
  size.profiler = profiler_;
  size.names = pass.names;
  size.count = pass.count;
  size.most_ranges = ranges;
  size.most_nodes = static_cast<uint32_t>(ranges);
  if (!Check("cuptiRangeProfilerGetCounterDataSize", Call(api_.range_data_size, size)))
    return false;
  FreeData();
  data_ = static_cast<uint8_t*>(sys::MapMemory(size.data_bytes));
  if (data_ == nullptr) return Check("mmap", kOutOfMemory);
  data_bytes_ = size.data_bytes;
  counters::DataInitializeParams params{};
  params.object = profiler_;
  params.data_bytes = data_bytes_;
  params.data = data_;
  return Check("cuptiRangeProfilerCounterDataImageInitialize",
               Call(api_.range_data_initialize, params));
}

bool CounterSession::Configure(const counters::HostObject& host, const CounterPass& pass,
                               counters::RangeMode mode, size_t ranges,
                               counters::ReplayMode replay) {
  if (!MakeData(pass, ranges)) return false;
  pushed_ = empty_ = 0;
  counters::RangeConfigParams config{};
  config.profiler = profiler_;
  config.config = host.image();
  config.config_bytes = host.image_bytes();
  config.data = data_;
  config.data_bytes = data_bytes_;
  config.range = mode;
  config.replay = replay;  // kUserReplay of one pass: nothing is
  config.most_ranges = ranges;
  config.nesting_levels = 1;
  config.least_nesting_level = 1;
  config.target_nesting_level = 1;
  return Check("cuptiRangeProfilerSetConfig", Call(api_.range_config, config));
}

bool CounterSession::Start() {
  counters::RangeObjectParams start{};
  start.profiler = profiler_;
  is_counting_ = Check("cuptiRangeProfilerStart", Call(api_.range_start, start));
  return is_counting_;
}

bool CounterSession::Push() {
  // Ranges of one name would be one; CUPTI numbers those of kernels just so.
  Text(range_name_, sizeof range_name_).Add(pushed_++);
  counters::PushRangeParams params{};
  params.profiler = profiler_;
  params.name = range_name_;
  return Check("cuptiRangeProfilerPushRange", Call(api_.range_push, params));
}

bool CounterSession::Pop(bool is_empty) {
  if (is_empty && empty_ == kMostEmpty) return Check("failed launches", kOutOfMemory);
  if (is_empty) empty_at_[empty_++] = pushed_ - 1;
  counters::RangeObjectParams params{};
  params.profiler = profiler_;
  return Check("cuptiRangeProfilerPopRange", Call(api_.range_pop, params));
}

bool CounterSession::Stop() {
  counters::RangeStopParams stop{};
  stop.profiler = profiler_;
  is_counting_ = false;
  if (!Check("cuptiRangeProfilerStop", Call(api_.range_stop, stop))) return false;
  has_all_passes_ = stop.all_passes_submitted != 0;
  counters::RangeDecodeParams decode{};
  decode.profiler = profiler_;
  return Check("cuptiRangeProfilerDecodeData", Call(api_.range_decode, decode));
}

size_t CounterSession::places() const {
  counters::RangeDataInfoParams info{};
  info.data = data_;
  info.data_bytes = data_bytes_;
  return Call(api_.range_data_info, info) == kSuccess ? info.ranges : 0;
}

size_t CounterSession::OrderOf(size_t place) const {
  counters::RangeInfoParams info{};
  info.data = data_;
  info.data_bytes = data_bytes_;
  info.range = place;
  info.delimiter = "/";
  if (api_.range_info == nullptr || Call(api_.range_info, info) != kSuccess ||
      info.name == nullptr || *info.name < '0' || *info.name > '9') {
    return place;
  }
  size_t order = 0;
  for (const char* at = info.name; *at >= '0' && *at <= '9'; ++at) {
    order = order * 10 + static_cast<size_t>(*at - '0');
  }
  if (order >= places()) return place;
  size_t before = 0;
  for (size_t i = 0; i < empty_; ++i) {
    if (empty_at_[i] == order) return kEmpty;
    before += empty_at_[i] < order;
  }
  return order - before;
}

void CounterSession::Disable() {
  if (profiler_ != nullptr) {
    if (is_counting_) {
      counters::RangeStopParams stop{};
      stop.profiler = profiler_;
      Call(api_.range_stop, stop);
      is_counting_ = false;
    }
    counters::RangeObjectParams params{};
    params.profiler = profiler_;
    Call(api_.range_disable, params);
    profiler_ = nullptr;
  }
  FreeData();
}

void CounterSession::FreeData() {
  if (data_ != nullptr) sys::Unmap(data_, data_bytes_);
  data_ = nullptr;
  data_bytes_ = 0;
}

}  // namespace batchlight::inject::cupti
