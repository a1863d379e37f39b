#include "columnar/flat_buffer.h"

#include <algorithm>
#include <vector>

namespace batchlight {

void FlatBuffer::Align(size_t bytes, size_t alignment) {
  while ((reversed_.size() + bytes) % alignment != 0) reversed_ += '\0';
}

void FlatBuffer::Put(uint64_t value, size_t bytes) {
  for (size_t i = bytes; i-- > 0;) reversed_ += static_cast<char>(value >> i * 8);
}

void FlatBuffer::PutOffset(Place target) { Put(Here() + sizeof(uint32_t) - target, 4); }

FlatBuffer::Place FlatBuffer::Text(std::string_view text) {
  Align(text.size() + 1, 4);
  reversed_ += '\0';
  reversed_.append(text.rbegin(), text.rend());
  Put(text.size(), 4);
  return Here();
}

FlatBuffer::Place FlatBuffer::Table(std::span<const Field> fields) {
  const size_t end = reversed_.size();
  size_t slots = 0;
  std::vector<Place> places(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    Align(field.bytes, field.bytes);
    if (field.is_place) {
      PutOffset(static_cast<Place>(field.value));
    } else {
      Put(field.value, field.bytes);
    }
    places[i] = Here();
    slots = std::max<size_t>(slots, field.slot + 1);
  }
  // The table begins with the distance to the list of its fields, which stands before it.
  const size_t list_bytes = 4 + slots * 2;
  Align(4, 4);
  // The list is two-byte numbers, so nothing has to be aligned between.
  Put(list_bytes, 4);
  const Place table = Here();
  std::vector<uint16_t> offsets(slots);
  for (size_t i = 0; i < fields.size(); ++i) {
    offsets[fields[i].slot] = static_cast<uint16_t>(table - places[i]);
  }
  for (size_t i = slots; i-- > 0;) Put(offsets[i], 2);
  Put(table - end, 2);
  Put(list_bytes, 2);
  return table;
}

FlatBuffer::Place FlatBuffer::Places(std::span<const Place> places) {
  Align(places.size() * 4, 4);
  for (size_t i = places.size(); i-- > 0;) PutOffset(places[i]);
  Put(places.size(), 4);
  return Here();
}

FlatBuffer::Place FlatBuffer::Structs(std::span<const int64_t> numbers, size_t numbers_each) {
  Align(numbers.size() * 8, 8);
  for (size_t i = numbers.size(); i-- > 0;) Put(static_cast<uint64_t>(numbers[i]), 8);
  Put(numbers.size() / numbers_each, 4);
  return Here();
}

std::string FlatBuffer::Finish(Place root) {
  Align(4, 8);
  PutOffset(root);
  return {reversed_.rbegin(), reversed_.rend()};
}

}  // namespace batchlight
