// Registered payload schemas: what the program's side must know to tell a payload's size and to
// follow the pointers in it. The rest goes into the recording as it was registered.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/nvtx/nvtx_abi.h"
#include "inject/nvtx/registry.h"

namespace batchlight::inject::nvtx {

struct Layout {
  size_t bytes;  // 0 = not known
  size_t align;
};
// Of a predefined entry type.
Layout TypeLayout(uint64_t type);

struct StringField {
  enum Kind : uint8_t { kInline, kPointer, kHandle };
  uint64_t type;    // predefined entry type
  uint64_t offset;  // in the payload
  uint32_t bytes;   // of the field itself
  Kind kind;
  bool is_message;
};

struct Schema {
  uint64_t id;
  uint32_t domain;
  uint32_t string_count;
  size_t static_bytes;
  size_t entry_count;
  Schema* next;
  StringField strings[];
};

// Lock-free; nullptr for predefined and unknown types.
const Schema* FindSchema(const Domain* domain, uint64_t id);

// Remembers it and returns the schema's id: the program's own, or a new one. 0 = no memory.
uint64_t RememberSchema(const Domain* domain, const SchemaAttributes& attributes, bool* is_new);

// An id for an enum or schema that brings none.
uint64_t NewSchemaId();

}  // namespace batchlight::inject::nvtx
