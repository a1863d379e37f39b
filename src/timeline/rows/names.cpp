#include "timeline/rows/names.h"

namespace batchlight::timeline {

StringId Names::Add(std::string_view text) {
  if (const StringId id = pool_.Find(text); !id.IsNone()) return id;
  if (const auto at = numbers_.find(text); at != numbers_.end()) return StringId{at->second};
  const auto number = static_cast<uint32_t>(size());
  more_.emplace_back(text);
  numbers_.emplace(more_.back(), number);
  return StringId{number};
}

void Names::MarkKernel(StringId name) {
  if (name.value >= kernels_.size()) kernels_.resize(size_t{name.value} + 1);
  kernels_[name.value] = true;
}

std::string_view Names::Text(uint32_t name) const {
  if (name < pool_.size()) return pool_.Get(StringId{name});
  return name - pool_.size() < more_.size() ? std::string_view(more_[name - pool_.size()])
                                            : std::string_view();
}

}  // namespace batchlight::timeline
