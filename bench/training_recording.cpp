#include "training_recording.h"

#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "format/encode.h"

namespace batchlight::bench {
namespace {

constexpr uint32_t kChunkBytes = 256 << 10;
constexpr uint64_t kTicksPerEvent = 300;  // the clock: 1 tick = 1 ns
constexpr uint64_t kLongestRecord = 256;

constexpr std::array<std::string_view, 12> kOperators = {
    "aten::linear", "aten::addmm",      "aten::mm",         "aten::gelu",
    "aten::add",    "aten::layer_norm", "aten::transpose",  "aten::view",
    "aten::bmm",    "aten::softmax",    "aten::empty_like", "aten::copy_"};

class ThreadWriter {
 public:
  ThreadWriter(uint32_t tid, uint32_t thread_index, std::string& file)
      : header_{.pid = 100,
                .tid = tid,
                .thread_index = thread_index,
                .clock_kind = static_cast<uint32_t>(format::ClockKind::kMonotonic),
                .attach_ns = 1000},
        file_(file) {}
  ~ThreadWriter() { Close(); }

  // One training step; returns its begin and end records.
  uint64_t Step(uint64_t step) {
    const uint64_t before = events_;
    Phase(format::Phase::kDataLoaderNext, "enumerate(DataLoader)");
    Operators(2);
    Write(format::PhaseEndRecord{});
    Push("forward");
    for (int layer = 0; layer < 6; ++layer) {
      Module("encoder.layers." + std::to_string(layer), "TransformerEncoderLayer");
      Operators(8);
      Write(format::ModuleEndRecord{});
    }
    Write(format::RangePopRecord{});
    PushEx("loss", step);
    Operators(3);
    Write(format::RangePopDomainRecord{.domain = String("training")});
    Push("backward");
    Operators(30);
    Write(format::RangePopRecord{});
    Phase(format::Phase::kOptimizerStep, "Optimizer.step#AdamW.step");
    Operators(10);
    Write(format::PhaseEndRecord{});
    for (int i = 0; i < 20; ++i) {
      Push(i % 2 == 0 ? "all_reduce" : "bucket");
      Write(format::RangePopRecord{});
    }
    return events_ - before;
  }

 private:
  void Operators(int count) {
    for (int i = 0; i < count; ++i) {
      Begin();
      const auto name = String(kOperators[static_cast<size_t>(next_operator_)]);
      next_operator_ = (next_operator_ + 1) % static_cast<int>(kOperators.size());
      std::string shapes;
      for (int input = 0; input < 2; ++input) {
        const std::array<int64_t, 3> sizes = {64, 128, 768 * (next_operator_ % 4 + 1)};
        shapes += "\x03\x06";
        shapes.append(reinterpret_cast<const char*>(sizes.data()), sizeof sizes);
      }
      Write(format::OpBeginRecord{
          .name = name, .sequence = static_cast<int64_t>(events_), .shapes = String(shapes)});
      Write(format::OpEndRecord{});
    }
  }

  void Push(std::string_view message) {
    Begin();
    Write(format::RangePushRecord{.message = String(message)});
  }
  void PushEx(std::string_view message, uint64_t payload) {
    Begin();
    Write(format::RangePushExRecord{.message = String(message),
                                    .domain = String("training"),
                                    .color = 0xff00ff00,
                                    .flags = 2,
                                    .payload_type = 1,
                                    .payload = payload});
  }
  void Module(const std::string& path, std::string_view class_name) {
    Begin();
    Write(format::ModuleBeginRecord{.path = String(path), .class_name = String(class_name)});
  }
  void Phase(format::Phase phase, std::string_view name) {
    Begin();
    Write(format::PhaseBeginRecord{.phase = static_cast<uint32_t>(phase), .name = String(name)});
  }

  // Makes room for a record, its strings and its end.
  void Begin() {
    if (writer_.Room() > 4 * kLongestRecord) return;
    Close();
    memory_.assign(kChunkBytes / sizeof(uint64_t), 0);
    header_.base_ticks = now_;
    header_.base_monotonic_ns = static_cast<int64_t>(now_);
    writer_ = format::ChunkWriter(
        std::span(reinterpret_cast<uint8_t*>(memory_.data()), kChunkBytes), header_);
    ++header_.chunk_index;
    strings_.clear();
  }

  void Close() {
    if (memory_.empty()) return;
    writer_.Close(now_, static_cast<int64_t>(now_));
    file_.append(reinterpret_cast<const char*>(memory_.data()), kChunkBytes);
    memory_.clear();
  }

  template <typename Record>
  void Write(const Record& record) {
    now_ += kTicksPerEvent;
    ++events_;
    if (writer_.Room() < kLongestRecord) Begin();
    writer_.Add(record, now_);
  }

  format::StringRef String(std::string_view text) {
    auto place = strings_.find(text);
    if (place == strings_.end()) {
      place = strings_.emplace(std::string(text), writer_.AddString(text, now_)).first;
    }
    return place->second;
  }

  format::ChunkHeader header_;
  std::string& file_;
  std::vector<uint64_t> memory_;
  format::ChunkWriter writer_;
  std::map<std::string, format::StringRef, std::less<>> strings_;
  uint64_t now_ = 1000;
  uint64_t events_ = 0;
  int next_operator_ = 0;
};

}  // namespace

std::map<std::string, std::string> TrainingRecording(uint64_t events) {
  std::map<std::string, std::string> files;
  std::string& file = files["100-1000.blp"];
  ThreadWriter first(101, 0, file);
  ThreadWriter second(102, 1, file);
  uint64_t written = 0;
  for (uint64_t step = 0; written < events; ++step) {
    written += first.Step(step) + second.Step(step);
  }
  return files;
}

}  // namespace batchlight::bench
