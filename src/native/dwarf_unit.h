// Units of .debug_info and the entries in them, DWARF 2 to 5 (https://dwarfstd.org), of a file that
// may be anything: what lies outside of it reads as nothing, and all work is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "native/byte_reader.h"
#include "native/dwarf_sections.h"

namespace batchlight::native {

enum DwarfTag : uint32_t {
  kTagClass = 0x02,
  kTagStructure = 0x13,
  kTagUnion = 0x17,
  kTagInlinedSubroutine = 0x1d,
  kTagSubprogram = 0x2e,
  kTagNamespace = 0x39,
};

struct DwarfUnit {
  uint64_t begin = 0;    // of its head, in .debug_info
  uint64_t entries = 0;  // the first of them
  uint64_t end = 0;
  uint64_t abbreviations = 0;
  uint16_t version = 0;
  uint8_t offset_bytes = 4;
  bool has_code = false;  // not one of types
  // Of its first entry.
  uint64_t low_pc = 0;
  uint64_t texts_base = 0;
  uint64_t addresses_base = 0;
  uint64_t ranges_base = 0;
  uint64_t language = 0;
};

struct DwarfValue {
  uint64_t form = 0;  // 0: the attribute is not there
  uint64_t number = 0;
  std::string_view text;  // of a text in place
};

// What of an entry matters here.
struct DwarfEntry {
  uint32_t tag = 0;
  DwarfValue low_pc, high_pc, ranges;
  DwarfValue name, linkage_name, origin, specification;
  DwarfValue texts_base, addresses_base, ranges_base, language;
};

// What the entries of a unit look like: their tags and attributes by code.
class DwarfAbbreviations {
 public:
  struct Attribute {
    uint32_t name;
    uint32_t form;
    int64_t constant;  // where the form has its value here
  };
  struct Abbreviation {
    uint64_t code = 0;
    uint32_t tag = 0;
    bool has_children = false;
    uint32_t first = 0;  // of its attributes
    uint32_t count = 0;
    int32_t bytes = 0;  // of all values; negative: it differs
  };

  // Until `last_code`, of a table of a unit.
  DwarfAbbreviations(std::span<const uint8_t> table, const DwarfUnit& unit, uint64_t last_code,
                     DwarfWork& work);

  // Null: there is none.
  const Abbreviation* Find(uint64_t code) const;
  std::span<const Attribute> AttributesOf(const Abbreviation& abbreviation) const {
    return std::span(attributes_).subspan(abbreviation.first, abbreviation.count);
  }

 private:
  bool ReadOne(ByteReader& reader, const DwarfUnit& unit, DwarfWork& work);

  std::vector<Abbreviation> by_number_;  // of code i + 1
  std::unordered_map<uint64_t, Abbreviation> others_;
  std::vector<Attribute> attributes_;
};

class DwarfInfo {
 public:
  // Reads the heads of all units. Both must stay.
  DwarfInfo(const DwarfSections& sections, DwarfWork& work);

  // By where they lie. Without those after which the work was used up.
  const std::vector<DwarfUnit>& units() const { return units_; }
  DwarfWork& work() const { return work_; }
  // Null: the place is in no unit.
  const DwarfUnit* UnitOf(uint64_t place) const;
  std::shared_ptr<const DwarfAbbreviations> AbbreviationsOf(const DwarfUnit& unit);

  // From the first entry on, or from one of them. Places are `unit.begin` + reader.place().
  ByteReader ReaderOf(const DwarfUnit& unit) const { return ReaderAt(unit, unit.entries); }
  ByteReader ReaderAt(const DwarfUnit& unit, uint64_t place) const;
  // Behind the code of an entry: its attributes. False: they cannot be read.
  bool ReadEntry(const DwarfUnit& unit, const DwarfAbbreviations& abbreviations,
                 const DwarfAbbreviations::Abbreviation& abbreviation, ByteReader& reader,
                 DwarfEntry* entry) const;
  bool SkipEntry(const DwarfUnit& unit, const DwarfAbbreviations& abbreviations,
                 const DwarfAbbreviations::Abbreviation& abbreviation, ByteReader& reader) const;
  // That of the unit as a whole.
  bool ReadFirstEntry(const DwarfUnit& unit, DwarfEntry* entry) const;
  // The entry at a place of any unit. False: there is none.
  bool EntryAt(uint64_t place, DwarfEntry* entry);

  // Calls visit(begin, end) for each stretch of code of an entry.
  void VisitRanges(const DwarfUnit& unit, const DwarfEntry& entry,
                   const std::function<void(uint64_t, uint64_t)>& visit) const;
  std::string_view TextOf(const DwarfUnit& unit, const DwarfValue& value) const;
  // The place that a value refers to. UINT64_MAX: none in this file.
  uint64_t PlaceOf(const DwarfUnit& unit, const DwarfValue& value) const;

 private:
  bool ReadHead(uint64_t begin, DwarfUnit* unit) const;
  void ReadBases(DwarfUnit& unit) const;
  uint64_t AddressOf(const DwarfUnit& unit, const DwarfValue& value) const;
  uint64_t AddressAt(const DwarfUnit& unit, uint64_t index) const;
  uint64_t RangesPlace(const DwarfUnit& unit, const DwarfValue& value) const;
  void VisitOldRanges(const DwarfUnit& unit, uint64_t place,
                      const std::function<void(uint64_t, uint64_t)>& visit) const;
  void VisitRangeList(const DwarfUnit& unit, uint64_t place,
                      const std::function<void(uint64_t, uint64_t)>& visit) const;

  const DwarfSections& sections_;
  DwarfWork& work_;
  std::vector<DwarfUnit> units_;
  // Lately used, by their place.
  std::unordered_map<uint64_t, std::shared_ptr<const DwarfAbbreviations>> abbreviations_;
};

}  // namespace batchlight::native
