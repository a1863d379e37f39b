#include "native/dwarf_form.h"

#include <cstring>

namespace batchlight::native {
namespace {

enum OtherForm : uint32_t {
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kFlag = 0x0c,
  kSdata = 0x0d,
  kUdata = 0x0f,
  kRef1 = 0x11,
  kRef2 = 0x12,
  kRef4 = 0x13,
  kRef8 = 0x14,
  kRefUdata = 0x15,
  kIndirect = 0x16,
  kSecOffset = 0x17,
  kExprloc = 0x18,
  kFlagPresent = 0x19,
  kStrx = 0x1a,
  kAddrx = 0x1b,
  kRefSup4 = 0x1c,
  kStrpSup = 0x1d,
  kData16 = 0x1e,
  kRefSig8 = 0x20,
  kLoclistx = 0x22,
  kRefSup8 = 0x24,
  kStrx1 = 0x25,
  kStrx2 = 0x26,
  kStrx3 = 0x27,
  kStrx4 = 0x28,
  kAddrx1 = 0x29,
  kAddrx2 = 0x2a,
  kAddrx3 = 0x2b,
  kAddrx4 = 0x2c,
  kGnuAddrIndex = 0x1f01,
  kGnuStrIndex = 0x1f02,
  kGnuRefAlt = 0x1f20,
  kGnuStrpAlt = 0x1f21,
};

bool ReadText(ByteReader& reader, DwarfValue* value) {
  const auto rest = reader.rest();
  const auto* const begin = reinterpret_cast<const char*>(rest.data());
  value->text = {begin, rest.empty() ? 0 : strnlen(begin, rest.size())};
  reader.Skip(value->text.size() + 1);
  return reader.ok();
}

bool SkipBlock(ByteReader& reader, uint64_t bytes) {
  reader.Skip(bytes);
  return reader.ok();
}

uint64_t ReadNumber(ByteReader& reader, int bytes) {
  switch (bytes) {
    case 0:
      return 0;
    case 1:
      return reader.Read<uint8_t>();
    case 2:
      return reader.Read<uint16_t>();
    case 3: {
      const uint64_t low = reader.Read<uint16_t>();
      return low | uint64_t{reader.Read<uint8_t>()} << 16;
    }
    case 4:
      return reader.Read<uint32_t>();
    case 8:
      return reader.Read<uint64_t>();
    default:
      reader.Skip(static_cast<uint64_t>(bytes));
      return 0;
  }
}

}  // namespace

int FormBytes(uint64_t form, uint16_t version, uint8_t offset_bytes) {
  switch (form) {
    case kFlagPresent:
    case kFormImplicitConst:
      return 0;
    case kData1:
    case kFlag:
    case kRef1:
    case kStrx1:
    case kAddrx1:
      return 1;
    case kData2:
    case kRef2:
    case kStrx2:
    case kAddrx2:
      return 2;
    case kStrx3:
    case kAddrx3:
      return 3;
    case kData4:
    case kRef4:
    case kRefSup4:
    case kStrx4:
    case kAddrx4:
      return 4;
    case kFormAddr:
    case kData8:
    case kRef8:
    case kRefSig8:
    case kRefSup8:
      return 8;
    case kData16:
      return 16;
    case kFormRefAddr:
      return version == 2 ? 8 : offset_bytes;
    case kFormStrp:
    case kFormLineStrp:
    case kSecOffset:
    case kStrpSup:
    case kGnuRefAlt:
    case kGnuStrpAlt:
      return offset_bytes;
    default:
      return -1;
  }
}

bool ReadForm(ByteReader& reader, uint64_t form, uint16_t version, uint8_t offset_bytes,
              DwarfValue* value) {
  if (form == kIndirect) {
    form = reader.Uleb();
    if (form == kFormImplicitConst) return false;  // has no value here
  }
  value->form = form;
  const int bytes = FormBytes(form, version, offset_bytes);
  if (bytes >= 0) {
    value->number = ReadNumber(reader, bytes);
    return reader.ok();
  }
  switch (form) {
    case kFormString:
      return ReadText(reader, value);
    case kBlock1:
      return SkipBlock(reader, reader.Read<uint8_t>());
    case kBlock2:
      return SkipBlock(reader, reader.Read<uint16_t>());
    case kBlock4:
      return SkipBlock(reader, reader.Read<uint32_t>());
    case kBlock:
    case kExprloc:
      return SkipBlock(reader, reader.Uleb());
    case kSdata:
      value->number = static_cast<uint64_t>(reader.Sleb());
      return reader.ok();
    case kUdata:
    case kRefUdata:
    case kStrx:
    case kAddrx:
    case kLoclistx:
    case kFormRnglistx:
    case kGnuAddrIndex:
    case kGnuStrIndex:
      value->number = reader.Uleb();
      return reader.ok();
    default:
      return false;
  }
}

bool IsAddressIndex(uint64_t form) {
  return form == kAddrx || form == kGnuAddrIndex || (form >= kAddrx1 && form <= kAddrx4);
}

bool IsTextIndex(uint64_t form) {
  return form == kStrx || form == kGnuStrIndex || (form >= kStrx1 && form <= kStrx4);
}

bool IsUnitReference(uint64_t form) { return form >= kRef1 && form <= kRefUdata; }

}  // namespace batchlight::native
