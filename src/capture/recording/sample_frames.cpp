#include "capture/recording/sample_frames.h"

#include <algorithm>
#include <cstring>

#include "counters/sample_stream.h"

namespace batchlight::capture {

using counters::FrameHead;
using counters::FrameKind;

namespace {

// The struct at the beginning of `body`, which is cut off.
template <typename Frame>
bool TakeHead(std::string_view& body, Frame& frame) {
  if (body.size() < sizeof frame) return false;
  std::memcpy(&frame, body.data(), sizeof frame);
  body.remove_prefix(sizeof frame);
  return true;
}

std::string TakeText(std::string_view& body) {
  const size_t end = std::min(body.find('\0'), body.size());
  std::string text(body.substr(0, end));
  body.remove_prefix(std::min(end + 1, body.size()));
  return text;
}

}  // namespace

bool SampleFrames::TakeFrame(uint32_t kind, std::string_view body) {
  switch (static_cast<FrameKind>(kind)) {
    case FrameKind::kMetric: {
      counters::MetricFrame frame;
      if (!TakeHead(body, frame)) return false;
      GpuMetricDefinition metric{
          .device = frame.device, .source = frame.source, .interval_ns = frame.interval_ns};
      metric.uuid = TakeText(body);
      metric.name = TakeText(body);
      metric.unit = TakeText(body);
      on_metric(metric);
      return true;
    }
    case FrameKind::kSample: {
      counters::SampleFrame frame;
      if (!TakeHead(body, frame)) return false;
      GpuSample sample{.start_ns = frame.start_ns, .device = frame.device, .source = frame.source};
      sample.values.resize(body.size() / sizeof(float));
      if (!sample.values.empty()) {
        std::memcpy(sample.values.data(), body.data(), sample.values.size() * sizeof(float));
      }
      on_sample(sample);
      return true;
    }
    case FrameKind::kReason:
      on_reason(body);
      return true;
    case FrameKind::kLost: {
      counters::LostFrame frame;
      if (!TakeHead(body, frame)) return false;
      on_lost(frame.samples);
      return true;
    }
  }
  return false;
}

bool SampleFrames::Take(std::string_view bytes) {
  if (is_broken_) return false;
  rest_ += bytes;
  std::string_view left = rest_;
  while (left.size() >= sizeof(FrameHead)) {
    FrameHead head;
    std::memcpy(&head, left.data(), sizeof head);
    is_broken_ = head.bytes > counters::kMostFrameBytes;
    if (is_broken_ || left.size() < sizeof head + head.bytes) break;
    is_broken_ = !TakeFrame(static_cast<uint32_t>(head.kind), left.substr(sizeof head, head.bytes));
    if (is_broken_) break;
    left.remove_prefix(sizeof head + head.bytes);
  }
  rest_.erase(0, rest_.size() - left.size());
  return !is_broken_;
}

}  // namespace batchlight::capture
