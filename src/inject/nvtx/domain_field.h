// A domain's name as a field of a fact; of the default domain "".
#pragma once

#include <cstddef>

#include "inject/buffer/facts.h"
#include "inject/nvtx/registry.h"

namespace batchlight::inject::nvtx {

inline FactString DomainField(size_t offset, const Domain* domain) {
  if (domain == nullptr) return {offset, "", 0};
  return {offset, domain->name.text, domain->name.bytes};
}

}  // namespace batchlight::inject::nvtx
