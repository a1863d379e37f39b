// What a range or mark of NVTX says beside its message, as text.
#pragma once

#include <optional>
#include <string>

#include "store/store.h"

namespace batchlight {

struct NvtxDetails {             // "": not given
  std::string domain;            // name
  std::string category;          // name, or its number
  std::string color;             // "#rrggbb"
  std::string payload;           // a number
  std::optional<double> number;  // the payload
};

NvtxDetails DetailsOf(const Store& store, NvtxDomainId domain, NvtxAttributesId attributes);

// "7", "0.25": with as many digits as tell payloads apart.
std::string PlainNumber(double number);

}  // namespace batchlight
