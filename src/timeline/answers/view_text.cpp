#include "timeline/answers/view_text.h"

#include <cstring>

namespace batchlight::timeline {
namespace {

// Reads past the end as zeros, and remembers it.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T Take() {
    T value{};
    if (at_ + sizeof(T) > bytes_.size()) {
      fine_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  template <typename T>
  void TakeColumn(size_t count, std::vector<T>& column) {
    at_ = (at_ + 7) / 8 * 8;
    for (size_t i = 0; fine_ && i < count; ++i) column.push_back(Take<T>());
  }
  bool AtEnd() const { return fine_ && (at_ + 7) / 8 * 8 == bytes_.size(); }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool fine_ = true;
};

}  // namespace

uint64_t DecodedView::TotalCount() const {
  uint64_t total = 0;
  for (const uint32_t one : count) total += one;
  return total;
}

DecodedView DecodeView(std::string_view bytes) {
  Reader reader(bytes);
  DecodedView view;
  const bool known = reader.Take<uint32_t>() == 0x56544c42 && reader.Take<uint16_t>() == 1;
  view.changed = (reader.Take<uint16_t>() & 1) != 0;
  view.from_ns = reader.Take<int64_t>();
  view.to_ns = reader.Take<int64_t>();
  view.step_ns = reader.Take<int64_t>();
  const auto rows = reader.Take<uint32_t>();
  const auto items = reader.Take<uint32_t>();
  const auto samples = reader.Take<uint32_t>();
  view.generation = reader.Take<uint32_t>();
  if (!known || bytes.size() < size_t{rows} * 16) return view;
  for (uint32_t i = 0; i < rows; ++i) {
    DecodedView::Row row{};
    row.track = reader.Take<uint32_t>();
    row.row = reader.Take<uint32_t>();
    row.first = reader.Take<uint32_t>();
    row.count = reader.Take<uint32_t>();
    view.rows.push_back(row);
  }
  for (auto* column : {&view.start, &view.width, &view.ref, &view.name, &view.count}) {
    reader.TakeColumn(items, *column);
  }
  reader.TakeColumn(items, view.busy);
  reader.TakeColumn(items, view.flags);
  reader.TakeColumn(samples, view.sample_start);
  for (auto* column : {&view.min, &view.max, &view.last}) reader.TakeColumn(samples, *column);
  view.fine = reader.AtEnd();
  return view;
}

std::string ViewText(std::string_view bytes, const std::function<bool(uint32_t)>& is_counter) {
  const DecodedView view = DecodeView(bytes);
  std::string text = "from " + std::to_string(view.from_ns) + " to " + std::to_string(view.to_ns) +
                     " step " + std::to_string(view.step_ns) + " generation " +
                     std::to_string(view.generation) + (view.changed ? " changed" : "") +
                     (view.fine ? "" : " BROKEN") + "\n";
  for (const DecodedView::Row& row : view.rows) {
    text += "track " + std::to_string(row.track) + " row " + std::to_string(row.row) + "\n";
    const bool counter = is_counter(row.track);
    for (uint32_t i = row.first; i < row.first + row.count; ++i) {
      if (counter && i < view.last.size()) {
        const auto number = [](double value) { return std::to_string(int64_t(value)); };
        text += "  sample " + std::to_string(view.sample_start[i]) + " min " + number(view.min[i]) +
                " max " + number(view.max[i]) + " last " + number(view.last[i]) + "\n";
      }
      if (counter || i >= view.flags.size()) continue;
      text += "  start " + std::to_string(view.start[i]) + " width " +
              std::to_string(view.width[i]) + " ref " + std::to_string(view.ref[i]) + " name " +
              std::to_string(view.name[i]) + " count " + std::to_string(view.count[i]) + " busy " +
              std::to_string(view.busy[i]) + " flags " + std::to_string(view.flags[i]) + "\n";
    }
  }
  return text;
}

}  // namespace batchlight::timeline
