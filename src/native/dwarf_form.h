// Forms in which values of attributes are stored.
#pragma once

#include <cstdint>

#include "native/dwarf_unit.h"

namespace batchlight::native {

enum DwarfForm : uint32_t {
  kFormAddr = 0x01,
  kFormString = 0x08,
  kFormStrp = 0x0e,
  kFormRefAddr = 0x10,
  kFormLineStrp = 0x1f,
  kFormImplicitConst = 0x21,
  kFormRnglistx = 0x23,
};

// Negative: it differs, or nobody knows.
int FormBytes(uint64_t form, uint16_t version, uint8_t offset_bytes);
// False: the bytes end, or it cannot be known where it does. Blocks have no number.
bool ReadForm(ByteReader& reader, uint64_t form, uint16_t version, uint8_t offset_bytes,
              DwarfValue* value);
bool IsAddressIndex(uint64_t form);
bool IsTextIndex(uint64_t form);
bool IsUnitReference(uint64_t form);  // counted from the unit's begin

}  // namespace batchlight::native
