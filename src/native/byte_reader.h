// Reads numbers of unwind tables from bytes that may be anything.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace batchlight::native {

class ByteReader {
 public:
  // `address`: of the first byte, as the file's own addresses count.
  ByteReader(std::span<const uint8_t> bytes, uint64_t address)
      : bytes_(bytes), first_address_(address) {}

  bool ok() const { return ok_; }
  bool at_end() const { return !ok_ || place_ >= bytes_.size(); }
  size_t place() const { return place_; }
  uint64_t address() const { return first_address_ + place_; }
  std::span<const uint8_t> rest() const { return ok_ ? bytes_.subspan(place_) : bytes_.first(0); }

  void Skip(uint64_t bytes) {
    if (bytes > bytes_.size() - place_) {
      Fail();
    } else {
      place_ += bytes;
    }
  }

  template <typename T>
  T Read() {
    T value{};
    if (sizeof(T) > bytes_.size() - place_) {
      Fail();
      return value;
    }
    std::memcpy(&value, bytes_.data() + place_, sizeof(T));
    place_ += sizeof(T);
    return value;
  }

  // Numbers that are longer than any of 64 bits has to be, with some padding, fail.
  uint64_t Uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (shift > kMostShift) Fail();
      const auto byte = Read<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0 || !ok_) return value;
    }
  }

  int64_t Sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      if (shift > kMostShift) Fail();
      const auto byte = Read<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0 && ok_) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
  }

  // A pointer as DW_EH_PE_* says. `data_base`: what DW_EH_PE_datarel counts from. Fails for forms
  // that no linker writes into tables of this kind, and for indirect ones.
  uint64_t Pointer(uint8_t encoding, uint64_t data_base);

 private:
  static constexpr unsigned kMostShift = 7 * 15;

  void Fail() {
    ok_ = false;
    place_ = bytes_.size();
  }

  std::span<const uint8_t> bytes_;
  uint64_t first_address_;
  size_t place_ = 0;
  bool ok_ = true;
};

inline constexpr uint8_t kPointerOmitted = 0xff;

inline uint64_t ByteReader::Pointer(uint8_t encoding, uint64_t data_base) {
  constexpr uint8_t kIndirect = 0x80;
  const uint64_t here = address();
  if ((encoding & kIndirect) != 0) Fail();
  uint64_t value = 0;
  switch (encoding & 0x0f) {
    case 0x00:  // absptr
    case 0x04:  // udata8
    case 0x0c:  // sdata8
      value = Read<uint64_t>();
      break;
    case 0x01:
      value = Uleb();
      break;
    case 0x02:
      value = Read<uint16_t>();
      break;
    case 0x03:
      value = Read<uint32_t>();
      break;
    case 0x09:
      value = static_cast<uint64_t>(Sleb());
      break;
    case 0x0a:
      value = static_cast<uint64_t>(int64_t{Read<int16_t>()});
      break;
    case 0x0b:
      value = static_cast<uint64_t>(int64_t{Read<int32_t>()});
      break;
    default:
      Fail();
  }
  switch (encoding & 0x70) {
    case 0x00:
      return value;
    case 0x10:  // pcrel
      return here + value;
    case 0x30:  // datarel
      return data_base + value;
    default:
      Fail();
      return 0;
  }
}

}  // namespace batchlight::native
