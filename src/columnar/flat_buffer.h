// Flatbuffers, as far as the messages of Arrow need them. Written from the end to the beginning:
// what a table points at is made before the table.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace batchlight {

class FlatBuffer {
 public:
  // A thing that was written: its distance from the end.
  using Place = uint32_t;

  struct Field {
    uint16_t slot;  // number of the field in its table
    uint8_t bytes;  // of the value; 4 for a place
    uint64_t value;
    bool is_place;
  };
  static Field Number(uint16_t slot, uint8_t bytes, int64_t value) {
    return {slot, bytes, static_cast<uint64_t>(value), false};
  }
  static Field At(uint16_t slot, Place place) { return {slot, 4, place, true}; }

  Place Text(std::string_view text);
  Place Table(std::initializer_list<Field> fields) {
    return Table(std::span<const Field>(fields.begin(), fields.size()));
  }
  Place Table(std::span<const Field> fields);
  Place Places(std::span<const Place> places);
  // A vector of structs of 64-bit numbers, `numbers` of all of them.
  Place Structs(std::span<const int64_t> numbers, size_t numbers_each);

  // The whole, whose size is a multiple of eight.
  std::string Finish(Place root);

 private:
  // So that `bytes` more end where `alignment` says, counted from the end of the whole.
  void Align(size_t bytes, size_t alignment);
  void Put(uint64_t value, size_t bytes);
  void PutOffset(Place target);
  Place Here() const { return static_cast<Place>(reversed_.size()); }

  std::string reversed_;  // the bytes, last first
};

}  // namespace batchlight
