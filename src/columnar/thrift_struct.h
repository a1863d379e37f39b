// Thrift's compact encoding, as far as the headers and the footer of Parquet need it. Fields are
// added by rising number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight {

class ThriftStruct {
 public:
  ThriftStruct& Byte(int field, int8_t value) {
    Head(field, kByte);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  ThriftStruct& Int16(int field, int64_t value) { return Int(field, kInt16, value); }
  ThriftStruct& Int32(int field, int64_t value) { return Int(field, kInt32, value); }
  ThriftStruct& Int64(int field, int64_t value) { return Int(field, kInt64, value); }
  ThriftStruct& Bool(int field, bool value) {
    Head(field, value ? kTrue : kFalse);
    return *this;
  }
  ThriftStruct& Text(int field, std::string_view value) {
    Head(field, kBinary);
    Bytes(value);
    return *this;
  }
  ThriftStruct& Struct(int field, const ThriftStruct& value) {
    Head(field, kStruct);
    bytes_ += value.Encoded();
    return *this;
  }
  ThriftStruct& Structs(int field, const std::vector<ThriftStruct>& values) {
    List(field, kStruct, values.size());
    for (const ThriftStruct& value : values) bytes_ += value.Encoded();
    return *this;
  }
  ThriftStruct& Int32s(int field, const std::vector<int32_t>& values) {
    List(field, kInt32, values.size());
    for (const int32_t value : values) ZigZag(value);
    return *this;
  }
  ThriftStruct& Texts(int field, const std::vector<std::string>& values) {
    List(field, kBinary, values.size());
    for (const std::string& value : values) Bytes(value);
    return *this;
  }
  // With the byte that ends a struct.
  std::string Encoded() const { return bytes_ + '\0'; }

 private:
  enum Type : uint8_t {
    kTrue = 1,
    kFalse = 2,
    kByte = 3,
    kInt16 = 4,
    kInt32 = 5,
    kInt64 = 6,
    kBinary = 8,
    kList = 9,
    kStruct = 12
  };
  // Fields are numbered from the one before.
  void Head(int field, Type type) {
    bytes_ += static_cast<char>((field - last_field_) << 4 | type);
    last_field_ = field;
  }
  ThriftStruct& Int(int field, Type type, int64_t value) {
    Head(field, type);
    ZigZag(value);
    return *this;
  }
  void List(int field, Type element, size_t size) {
    Head(field, kList);
    bytes_ += static_cast<char>((size < 15 ? size : 15) << 4 | element);
    if (size >= 15) Varint(size);
  }
  void Bytes(std::string_view value) {
    Varint(value.size());
    bytes_ += value;
  }
  void ZigZag(int64_t value) {
    Varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
  int last_field_ = 0;
};

}  // namespace batchlight
