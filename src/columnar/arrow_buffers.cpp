#include "columnar/arrow_buffers.h"

#include "columnar/compress.h"
#include "columnar/raw_bytes.h"

namespace batchlight {
namespace {

std::string Stored(const std::string& buffer) {
  if (buffer.empty()) return {};
  std::string stored;
  AppendRaw(static_cast<int64_t>(buffer.size()), stored);
  return stored + Compressed(buffer);
}

template <typename IsSet>
std::string Bits(size_t begin, size_t end, const IsSet& is_set) {
  std::string bits((end - begin + 7) / 8, '\0');
  for (size_t row = begin; row < end; ++row) {
    char& byte = bits[(row - begin) / 8];
    if (is_set(row)) byte = static_cast<char>(byte | 1 << (row - begin) % 8);
  }
  return bits;
}

std::string_view TextAt(const ColumnarValues& values, size_t row) {
  return values.IsPresent(row) ? values.texts[values.codes[row]] : std::string_view();
}

// Where each text ends, and the texts.
std::vector<std::string> TextBuffers(const ColumnarValues& values, size_t begin, size_t end) {
  std::string offsets(sizeof(int32_t), '\0');
  std::string texts;
  for (size_t row = begin; row < end; ++row) {
    texts += TextAt(values, row);
    AppendRaw(static_cast<int32_t>(texts.size()), offsets);
  }
  return {Stored(offsets), Stored(texts)};
}

template <typename T>
std::string Values(const std::vector<T>& values, size_t begin, size_t end) {
  return Stored({reinterpret_cast<const char*>(values.data() + begin), (end - begin) * sizeof(T)});
}

}  // namespace

ArrowColumn ArrowColumnOf(ColumnarType type, const ColumnarValues& values, size_t begin,
                          size_t end) {
  ArrowColumn column;
  const auto is_present = [&](size_t row) { return values.IsPresent(row); };
  for (size_t row = begin; row < end; ++row) column.null_count += is_present(row) ? 0 : 1;
  column.buffers.push_back(column.null_count == 0 ? std::string()
                                                  : Stored(Bits(begin, end, is_present)));
  if (HoldsText(type)) {
    for (std::string& buffer : TextBuffers(values, begin, end)) {
      column.buffers.push_back(std::move(buffer));
    }
  } else if (type == ColumnarType::kBool) {
    column.buffers.push_back(
        Stored(Bits(begin, end, [&](size_t row) { return values.numbers[row] != 0; })));
  } else if (type == ColumnarType::kReal) {
    column.buffers.push_back(Values(values.reals, begin, end));
  } else {
    column.buffers.push_back(Values(values.numbers, begin, end));
  }
  return column;
}

size_t EndOfTexts(const ColumnarValues& values, size_t begin, size_t end, size_t bytes) {
  if (values.texts.empty()) return end;
  size_t sum = TextAt(values, begin).size();
  size_t row = begin + 1;
  for (; row < end; ++row) {
    sum += TextAt(values, row).size();
    if (sum > bytes) break;
  }
  return row;
}

}  // namespace batchlight
