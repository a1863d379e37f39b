// Names of events by number: those of the store, and more that no column holds ("Memcpy HtoD ...").
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/store.h"

namespace batchlight::timeline {

class Names {
 public:
  explicit Names(const StringPool& pool) : pool_(pool) {}  // must outlive this and not grow

  // The store's id where the store has the text.
  StringId Add(std::string_view text);
  size_t size() const { return pool_.size() + more_.size(); }
  // "" for what is no name.
  std::string_view Text(uint32_t name) const;
  // Names of kernels are shown shorter (report/timeline/timeline_names.h).
  void MarkKernel(StringId name);
  bool IsKernel(uint32_t name) const { return name < kernels_.size() && kernels_[name]; }

 private:
  const StringPool& pool_;
  std::deque<std::string> more_;  // texts that the map looks at stay where they are
  std::unordered_map<std::string_view, uint32_t> numbers_;
  std::vector<bool> kernels_;
};

}  // namespace batchlight::timeline
