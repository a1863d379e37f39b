// A list that every fragment has a part of, in the order of the fragments.
#pragma once

#include <span>

#include "ingest/decode/fragment.h"

namespace batchlight {

template <typename Vector>
Vector Concatenate(std::span<const Fragment> fragments, Vector Fragment::*member) {
  Vector all;
  for (const Fragment& fragment : fragments) {
    all.insert(all.end(), (fragment.*member).begin(), (fragment.*member).end());
  }
  return all;
}

}  // namespace batchlight
