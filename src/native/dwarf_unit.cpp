#include "native/dwarf_unit.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "native/dwarf_form.h"

namespace batchlight::native {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr size_t kMostUnits = 1 << 18;
constexpr size_t kMostAttributes = 1 << 18;  // of one table
constexpr size_t kMostAbbreviations = 1 << 17;
constexpr size_t kMostKeptTables = 16;
constexpr size_t kMostDwarfTextBytes = 16 << 10;
constexpr uint64_t kUnitWork = 64;
constexpr uint64_t kRangeWork = 16;
constexpr uint32_t kLongUnit = 0xffffffff;

enum Attribute : uint32_t {
  kName = 0x03,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kLanguage = 0x13,
  kAbstractOrigin = 0x31,
  kSpecification = 0x47,
  kRanges = 0x55,
  kLinkageName = 0x6e,
  kTextsBase = 0x72,
  kAddressesBase = 0x73,
  kRangesBase = 0x74,
  kMipsLinkageName = 0x2007,
};

enum UnitType : uint8_t { kUnitOfTypes = 2, kSkeleton = 4, kSplit = 5, kSplitTypes = 6 };

enum RangeEntry : uint8_t {
  kEndOfList = 0,
  kBaseAddressX = 1,
  kStartXEndX = 2,
  kStartXLength = 3,
  kOffsetPair = 4,
  kBaseAddress = 5,
  kStartEnd = 6,
  kStartLength = 7,
};

Bytes From(Bytes bytes, uint64_t place) {
  return place < bytes.size() ? bytes.subspan(place) : Bytes();
}

uint64_t ReadOffset(ByteReader& reader, const DwarfUnit& unit) {
  return unit.offset_bytes == 8 ? reader.Read<uint64_t>() : reader.Read<uint32_t>();
}

std::string_view DwarfTextAt(Bytes texts, uint64_t place) {
  const Bytes rest = From(texts, place);
  const auto* const begin = reinterpret_cast<const char*>(rest.data());
  return {begin, rest.empty() ? 0 : strnlen(begin, std::min(rest.size(), kMostDwarfTextBytes))};
}

DwarfValue* FieldOf(DwarfEntry& entry, uint32_t attribute) {
  switch (attribute) {
    case kName:
      return &entry.name;
    case kLowPc:
      return &entry.low_pc;
    case kHighPc:
      return &entry.high_pc;
    case kLanguage:
      return &entry.language;
    case kAbstractOrigin:
      return &entry.origin;
    case kSpecification:
      return &entry.specification;
    case kRanges:
      return &entry.ranges;
    case kLinkageName:
    case kMipsLinkageName:
      return &entry.linkage_name;
    case kTextsBase:
      return &entry.texts_base;
    case kAddressesBase:
      return &entry.addresses_base;
    case kRangesBase:
      return &entry.ranges_base;
    default:
      return nullptr;
  }
}

}  // namespace

DwarfAbbreviations::DwarfAbbreviations(Bytes table, const DwarfUnit& unit, uint64_t last_code,
                                       DwarfWork& work) {
  ByteReader reader(table, 0);
  while (ReadOne(reader, unit, work)) {
    if (!by_number_.empty() && by_number_.back().code == last_code) break;
    if (others_.contains(last_code)) break;
  }
}

bool DwarfAbbreviations::ReadOne(ByteReader& reader, const DwarfUnit& unit, DwarfWork& work) {
  Abbreviation one;
  one.code = reader.Uleb();
  if (one.code == 0 || !reader.ok()) return false;
  if (by_number_.size() + others_.size() >= kMostAbbreviations) return false;
  const uint64_t tag = reader.Uleb();
  one.tag = tag <= UINT32_MAX ? static_cast<uint32_t>(tag) : 0;
  one.has_children = reader.Read<uint8_t>() != 0;
  one.first = static_cast<uint32_t>(attributes_.size());
  constexpr uint64_t kAttributeWork = 4;
  while (true) {
    Attribute attribute{};
    const uint64_t name = reader.Uleb();
    const uint64_t form = reader.Uleb();
    if (form == kFormImplicitConst) attribute.constant = reader.Sleb();
    if (!reader.ok() || !work.Take(kAttributeWork)) return false;
    if (name == 0 && form == 0) break;
    if (name > UINT32_MAX || form > UINT32_MAX || attributes_.size() >= kMostAttributes)
      return false;
    attribute.name = static_cast<uint32_t>(name);
    attribute.form = static_cast<uint32_t>(form);
    attributes_.push_back(attribute);
    const int size = FormBytes(attribute.form, unit.version, unit.offset_bytes);
    one.bytes = size < 0 || one.bytes < 0 ? -1 : one.bytes + size;
  }
  one.count = static_cast<uint32_t>(attributes_.size()) - one.first;
  if (one.code == by_number_.size() + 1) {
    by_number_.push_back(one);
  } else {
    others_.emplace(one.code, one);
  }
  return true;
}

const DwarfAbbreviations::Abbreviation* DwarfAbbreviations::Find(uint64_t code) const {
  if (code - 1 < by_number_.size()) return &by_number_[code - 1];
  const auto found = others_.find(code);
  return found == others_.end() ? nullptr : &found->second;
}

DwarfInfo::DwarfInfo(const DwarfSections& sections, DwarfWork& work)
    : sections_(sections), work_(work) {
  uint64_t place = 0;
  while (place < sections_.info.size() && units_.size() < kMostUnits && work_.Take(kUnitWork)) {
    DwarfUnit unit;
    if (!ReadHead(place, &unit)) break;
    place = unit.end;
    if (unit.entries == 0) continue;
    ReadBases(unit);
    units_.push_back(unit);
  }
}

// False: what follows cannot be found. Of a unit that is nothing for us, `entries` is 0.
bool DwarfInfo::ReadHead(uint64_t begin, DwarfUnit* unit) const {
  ByteReader reader(From(sections_.info, begin), 0);
  unit->begin = begin;
  uint64_t bytes = reader.Read<uint32_t>();
  if (bytes == kLongUnit) {
    bytes = reader.Read<uint64_t>();
    unit->offset_bytes = 8;
  }
  const uint64_t head = begin + reader.place();
  if (!reader.ok() || bytes > sections_.info.size() - head) return false;
  unit->end = head + bytes;
  unit->version = reader.Read<uint16_t>();
  uint8_t type = 0;
  uint8_t address_bytes = 0;
  if (unit->version == 5) {
    type = reader.Read<uint8_t>();
    address_bytes = reader.Read<uint8_t>();
    unit->abbreviations = ReadOffset(reader, *unit);
    if (type == kSkeleton || type == kSplit) reader.Skip(sizeof(uint64_t));
  } else {
    unit->abbreviations = ReadOffset(reader, *unit);
    address_bytes = reader.Read<uint8_t>();
  }
  const bool is_known = unit->version >= 2 && unit->version <= 5 && address_bytes == 8;
  unit->has_code = type != kUnitOfTypes && type != kSplitTypes;
  const uint64_t entries = begin + reader.place();
  if (is_known && unit->has_code && reader.ok() && entries < unit->end) unit->entries = entries;
  return true;
}

bool DwarfInfo::ReadFirstEntry(const DwarfUnit& unit, DwarfEntry* entry) const {
  ByteReader reader = ReaderOf(unit);
  const uint64_t code = reader.Uleb();
  const DwarfAbbreviations table(From(sections_.abbreviations, unit.abbreviations), unit, code,
                                 work_);
  const auto* const abbreviation = table.Find(code);
  return abbreviation != nullptr && ReadEntry(unit, table, *abbreviation, reader, entry) &&
         work_.Take(reader.place());
}

void DwarfInfo::ReadBases(DwarfUnit& unit) const {
  DwarfEntry entry;
  if (!ReadFirstEntry(unit, &entry)) return;
  unit.texts_base = entry.texts_base.number;
  unit.addresses_base = entry.addresses_base.number;
  unit.ranges_base = entry.ranges_base.number;
  unit.language = entry.language.number;
  if (entry.low_pc.form != 0) unit.low_pc = AddressOf(unit, entry.low_pc);
}

const DwarfUnit* DwarfInfo::UnitOf(uint64_t place) const {
  const auto after =
      std::upper_bound(units_.begin(), units_.end(), place,
                       [](uint64_t value, const DwarfUnit& unit) { return value < unit.entries; });
  if (after == units_.begin()) return nullptr;
  return place < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

std::shared_ptr<const DwarfAbbreviations> DwarfInfo::AbbreviationsOf(const DwarfUnit& unit) {
  const auto found = abbreviations_.find(unit.abbreviations);
  if (found != abbreviations_.end()) return found->second;
  if (abbreviations_.size() >= kMostKeptTables) abbreviations_.clear();
  auto table = std::make_shared<const DwarfAbbreviations>(
      From(sections_.abbreviations, unit.abbreviations), unit, 0, work_);
  abbreviations_[unit.abbreviations] = table;
  return table;
}

ByteReader DwarfInfo::ReaderAt(const DwarfUnit& unit, uint64_t place) const {
  ByteReader reader(sections_.info.subspan(unit.begin, unit.end - unit.begin), 0);
  reader.Skip(place - unit.begin);
  return reader;
}

bool DwarfInfo::ReadEntry(const DwarfUnit& unit, const DwarfAbbreviations& abbreviations,
                          const DwarfAbbreviations::Abbreviation& abbreviation, ByteReader& reader,
                          DwarfEntry* entry) const {
  entry->tag = abbreviation.tag;
  for (const auto& attribute : abbreviations.AttributesOf(abbreviation)) {
    if (!work_.Take(1)) return false;
    DwarfValue value;
    if (!ReadForm(reader, attribute.form, unit.version, unit.offset_bytes, &value)) return false;
    if (value.form == kFormImplicitConst) value.number = static_cast<uint64_t>(attribute.constant);
    DwarfValue* const field = FieldOf(*entry, attribute.name);
    if (field != nullptr) *field = value;
  }
  return true;
}

bool DwarfInfo::SkipEntry(const DwarfUnit& unit, const DwarfAbbreviations& abbreviations,
                          const DwarfAbbreviations::Abbreviation& abbreviation,
                          ByteReader& reader) const {
  if (abbreviation.bytes >= 0) {
    reader.Skip(static_cast<uint64_t>(abbreviation.bytes));
    return reader.ok();
  }
  if (!work_.Take(abbreviation.count)) return false;
  for (const auto& attribute : abbreviations.AttributesOf(abbreviation)) {
    DwarfValue value;
    if (!ReadForm(reader, attribute.form, unit.version, unit.offset_bytes, &value)) return false;
  }
  return true;
}

bool DwarfInfo::EntryAt(uint64_t place, DwarfEntry* entry) {
  const DwarfUnit* const unit = UnitOf(place);
  if (unit == nullptr) return false;
  const auto table = AbbreviationsOf(*unit);
  ByteReader reader = ReaderAt(*unit, place);
  const size_t begin = reader.place();
  const auto* const abbreviation = table->Find(reader.Uleb());
  return abbreviation != nullptr && ReadEntry(*unit, *table, *abbreviation, reader, entry) &&
         work_.Take(reader.place() - begin);  // its texts may be long
}

uint64_t DwarfInfo::AddressAt(const DwarfUnit& unit, uint64_t index) const {
  const Bytes table = From(sections_.addresses, unit.addresses_base);
  if (index >= table.size() / sizeof(uint64_t)) return 0;
  return ByteReader(table.subspan(index * sizeof(uint64_t)), 0).Read<uint64_t>();
}

uint64_t DwarfInfo::AddressOf(const DwarfUnit& unit, const DwarfValue& value) const {
  return IsAddressIndex(value.form) ? AddressAt(unit, value.number) : value.number;
}

std::string_view DwarfInfo::TextOf(const DwarfUnit& unit, const DwarfValue& value) const {
  if (value.form == kFormString) return value.text.substr(0, kMostDwarfTextBytes);
  if (value.form == kFormStrp) return DwarfTextAt(sections_.texts, value.number);
  if (value.form == kFormLineStrp) return DwarfTextAt(sections_.line_texts, value.number);
  if (!IsTextIndex(value.form)) return {};
  const Bytes table = From(sections_.text_offsets, unit.texts_base);
  if (value.number >= table.size() / unit.offset_bytes) return {};
  ByteReader reader(table.subspan(value.number * unit.offset_bytes), 0);
  return DwarfTextAt(sections_.texts, ReadOffset(reader, unit));
}

uint64_t DwarfInfo::PlaceOf(const DwarfUnit& unit, const DwarfValue& value) const {
  if (value.form == kFormRefAddr) return value.number;
  if (!IsUnitReference(value.form) || value.number >= unit.end - unit.begin) return UINT64_MAX;
  return unit.begin + value.number;
}

void DwarfInfo::VisitRanges(const DwarfUnit& unit, const DwarfEntry& entry,
                            const std::function<void(uint64_t, uint64_t)>& visit) const {
  if (entry.ranges.form != 0) {
    const uint64_t place = RangesPlace(unit, entry.ranges);
    return unit.version >= 5 ? VisitRangeList(unit, place, visit)
                             : VisitOldRanges(unit, place, visit);
  }
  if (entry.low_pc.form == 0 || entry.high_pc.form == 0) return;
  const uint64_t begin = AddressOf(unit, entry.low_pc);
  const bool is_address = entry.high_pc.form == kFormAddr || IsAddressIndex(entry.high_pc.form);
  visit(begin, is_address ? AddressOf(unit, entry.high_pc) : begin + entry.high_pc.number);
}

uint64_t DwarfInfo::RangesPlace(const DwarfUnit& unit, const DwarfValue& value) const {
  if (value.form != kFormRnglistx) return value.number;
  const Bytes table = From(sections_.range_lists, unit.ranges_base);
  if (value.number >= table.size() / unit.offset_bytes) return UINT64_MAX;
  ByteReader reader(table.subspan(value.number * unit.offset_bytes), 0);
  return unit.ranges_base + ReadOffset(reader, unit);
}

void DwarfInfo::VisitOldRanges(const DwarfUnit& unit, uint64_t place,
                               const std::function<void(uint64_t, uint64_t)>& visit) const {
  ByteReader reader(From(sections_.ranges, place), 0);
  uint64_t base = unit.low_pc;
  while (!reader.at_end() && work_.Take(kRangeWork)) {
    const auto begin = reader.Read<uint64_t>();
    const auto end = reader.Read<uint64_t>();
    if (!reader.ok() || (begin == 0 && end == 0)) return;
    if (begin == UINT64_MAX) {
      base = end;
    } else {
      visit(base + begin, base + end);
    }
  }
}

void DwarfInfo::VisitRangeList(const DwarfUnit& unit, uint64_t place,
                               const std::function<void(uint64_t, uint64_t)>& visit) const {
  ByteReader reader(From(sections_.range_lists, place), 0);
  uint64_t base = unit.low_pc;
  while (!reader.at_end() && work_.Take(kRangeWork)) {
    const auto kind = reader.Read<uint8_t>();
    if (kind == kEndOfList || kind > kStartLength) return;
    const bool is_indexed = kind >= kBaseAddressX && kind <= kStartXLength;
    const uint64_t first = is_indexed            ? AddressAt(unit, reader.Uleb())
                           : kind == kOffsetPair ? reader.Uleb()
                                                 : reader.Read<uint64_t>();
    if (kind == kBaseAddressX || kind == kBaseAddress) {
      base = first;
      continue;
    }
    const uint64_t second = kind == kStartXEndX ? AddressAt(unit, reader.Uleb())
                            : kind == kStartEnd ? reader.Read<uint64_t>()
                                                : reader.Uleb();
    if (!reader.ok()) return;
    if (kind == kOffsetPair) {
      visit(base + first, base + second);
    } else {
      visit(first, kind == kStartXLength || kind == kStartLength ? first + second : second);
    }
  }
}

}  // namespace batchlight::native
