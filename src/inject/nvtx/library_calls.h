// Calls of CUDA's libraries, which they announce as ranges in domains of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/library_domains.h"

namespace batchlight::inject::nvtx {

// What -t says of a library.
struct LibraryTrace {
  bool wanted;
  bool verbose;  // with the calls below
};
LibraryTrace TraceOf(format::Library library);

// Whether a call only makes, fills or reads a handle or descriptor: there are dozens around each
// call that does something.
bool IsHelperCall(const char* name, size_t bytes);
// The same, remembered by `hash`, that of the name's bytes: asked at each call.
bool IsHelperCall(const char* name, size_t bytes, uint64_t hash);

}  // namespace batchlight::inject::nvtx
