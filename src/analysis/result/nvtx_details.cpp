#include "analysis/result/nvtx_details.h"

#include <bit>
#include <cstdio>

namespace batchlight {
namespace {

// Of a payload; all but whole numbers of 64 bits are doubles anyway.
double NumberOf(NvtxPayloadType type, uint64_t bits) {
  switch (type) {
    case NvtxPayloadType::kUint64:
      return static_cast<double>(bits);
    case NvtxPayloadType::kInt64:
      return static_cast<double>(static_cast<int64_t>(bits));
    case NvtxPayloadType::kDouble:
      return std::bit_cast<double>(bits);
    case NvtxPayloadType::kUint32:
      return static_cast<uint32_t>(bits);
    case NvtxPayloadType::kInt32:
      return static_cast<int32_t>(bits);
    case NvtxPayloadType::kFloat:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case NvtxPayloadType::kNone:
      break;
  }
  return 0;
}

std::string PayloadText(NvtxPayloadType type, uint64_t bits) {
  if (type == NvtxPayloadType::kUint64) return std::to_string(bits);
  if (type == NvtxPayloadType::kInt64) return std::to_string(static_cast<int64_t>(bits));
  return PlainNumber(NumberOf(type, bits));
}

std::string CategoryText(const Store& store, NvtxDomainId domain, uint32_t category) {
  const NvtxCategoriesTable& categories = store.nvtx_categories;
  for (size_t row = 0; row < categories.size(); ++row) {
    if (categories.domain[row] == domain && categories.category[row] == category) {
      return std::string(store.Text(categories.name[row]));
    }
  }
  return std::to_string(category);
}

}  // namespace

NvtxDetails DetailsOf(const Store& store, NvtxDomainId domain, NvtxAttributesId attributes) {
  NvtxDetails details;
  if (!domain.IsNone()) details.domain = store.Text(store.nvtx_domains.name[domain.row()]);
  if (attributes.IsNone()) return details;
  const NvtxAttributesRow row = store.nvtx_attributes.Row(attributes.row());
  if (row.category != 0) details.category = CategoryText(store, domain, row.category);
  if (row.has_color == YesNo::kYes) {
    char text[16];
    std::snprintf(text, sizeof text, "#%06x", row.color & 0xffffff);
    details.color = text;
  }
  if (row.payload_type != NvtxPayloadType::kNone) {
    details.payload = PayloadText(row.payload_type, row.payload);
    details.number = NumberOf(row.payload_type, row.payload);
  }
  return details;
}

std::string PlainNumber(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

}  // namespace batchlight
