// Protobuf's encoding, as far as a writer of few kinds of messages needs it: Perfetto's traces and
// TensorBoard's events.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace batchlight {

// One protobuf message under construction.
class ProtobufMessage {
 public:
  ProtobufMessage& Number(uint32_t field, uint64_t value) {
    Varint(uint64_t{field} << 3);
    Varint(value);
    return *this;
  }
  ProtobufMessage& Fixed64(uint32_t field, uint64_t value) {
    Varint(uint64_t{field} << 3 | 1);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  ProtobufMessage& Double(uint32_t field, double value) {
    return Fixed64(field, std::bit_cast<uint64_t>(value));
  }
  ProtobufMessage& Float(uint32_t field, float value) {
    Varint(uint64_t{field} << 3 | 5);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  ProtobufMessage& Bytes(uint32_t field, std::string_view bytes) {
    Varint(uint64_t{field} << 3 | 2);
    Varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  ProtobufMessage& Message(uint32_t field, const ProtobufMessage& message) {
    return Bytes(field, message.bytes_);
  }
  ProtobufMessage& Append(const ProtobufMessage& fields) {
    bytes_ += fields.bytes_;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace batchlight
