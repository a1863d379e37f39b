// What programs register with NVTX and refer to by handle: domains and strings. Handles point into
// memory that is never freed, so that a stale one (a destroyed domain, a library that was unloaded)
// does no harm. Equal names share one handle.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/rt/lock.h"

namespace batchlight::inject::nvtx {

// A name with its hash, for ThreadStream::InternHashed(). At most kMaxStringBytes.
struct Name {
  const char* text;
  size_t bytes;
  uint64_t hash;
};
Name MakeName(const char* text, size_t bytes);

struct RegisteredString {  // *nvtxStringHandle_t
  Name name;
};

struct Domain {  // *nvtxDomainHandle_t; nullptr is the default domain
  Name name;
  uint32_t id;         // from 1; 0 for a domain without a name, which is the default one
  bool enabled;        // by --nvtx-domain-include and -exclude; a library's by -t
  bool skips_helpers;  // of a library: calls that do nothing by themselves are left out
};

// Both return nullptr when there is no memory.
const RegisteredString* RegisterString(const char* text, size_t bytes);
const Domain* RegisterDomain(const char* text, size_t bytes);

// Whether events of the domain (nullptr: default) are wanted. Set by ReadDomainFilter().
extern bool g_default_domain_enabled;
inline bool Enabled(const Domain* domain) {
  return domain == nullptr ? g_default_domain_enabled : domain->enabled;
}
void ReadDomainFilter();

// Permanent memory for registrations, 8-byte aligned; within the budget, nullptr beyond it.
// Under RegistryLock().
void* Allocate(size_t bytes);
Lock& RegistryLock();

}  // namespace batchlight::inject::nvtx
