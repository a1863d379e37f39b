// Names of functions by the places of their entries in .debug_info.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "native/dwarf_unit.h"

namespace batchlight::native {

class DwarfNames {
 public:
  explicit DwarfNames(DwarfInfo& info) : info_(info) {}

  // A number for the function that an entry stands for, or refers to.
  uint32_t NumberOf(uint64_t place);
  // By number, of all that were asked for; empty where there is none.
  std::vector<std::string> Find();

 private:
  struct Own {
    std::string linkage;  // as the linker has it
    std::string name;
    uint64_t place = 0;  // of the entry that has the name
  };
  struct Scope {
    size_t depth;
    uint64_t place;
  };
  using Wanted = std::map<uint64_t, std::vector<uint32_t>>;  // numbers by place

  Own OwnNameOf(uint64_t place);
  void Qualify(const DwarfUnit& unit, const Wanted& wanted, std::vector<std::string>& names);
  std::string ScopeText(const std::vector<Scope>& scopes);

  DwarfInfo& info_;
  std::unordered_map<uint64_t, uint32_t> numbers_;
  std::vector<uint64_t> places_;
};

}  // namespace batchlight::native
