// Where an object of CPython has its type. It is the same in every version; only free-threaded
// builds moved it.
#pragma once

#include <cstddef>
#include <cstring>

#include "inject/python/cpython.h"

namespace batchlight::inject {

inline size_t g_type_at = 0;  // 0: not found

inline const void* PointerAt(const void* object, size_t offset) {
  const void* pointer = nullptr;
  std::memcpy(&pointer, static_cast<const char*>(object) + offset, sizeof pointer);
  return pointer;
}

// By what a type is itself: an object whose type is `type_of_types`.
inline void FindObjectLayout(const void* a_type, const void* type_of_types) {
  for (size_t offset = 8; offset <= 32; offset += 8) {
    if (PointerAt(a_type, offset) != type_of_types) continue;
    g_type_at = offset;
    return;
  }
}

inline const void* TypeOf(const PyObject* object) { return PointerAt(object, g_type_at); }
// Members of an object stand behind its type.
inline size_t HeadBytes() { return g_type_at + sizeof(void*); }

}  // namespace batchlight::inject
