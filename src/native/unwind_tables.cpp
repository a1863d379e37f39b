#include "native/unwind_tables.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "native/byte_reader.h"

namespace batchlight::native {
namespace {

// Real entries have some hundred bytes, of PyTorch's libraries up to 7 KB; one that means harm
// would be run for every sample.
constexpr uint64_t kMostEntryBytes = 16 << 10;
// Compilers remember one row at a time.
constexpr size_t kMostRemembered = 8;

// What the functions of one CIE have in common.
struct CommonEntry {
  uint64_t code_align = 1;
  int64_t data_align = 1;
  uint64_t return_address = kReturnAddress;
  uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool is_signal_frame = false;
  std::span<const uint8_t> program;
};

// The bytes of the entry after its length; empty if they are not all there.
std::optional<ByteReader> EntryBody(Stretch from) {
  ByteReader length(from.bytes, from.address);
  uint64_t bytes = length.Read<uint32_t>();
  if (bytes == 0xffffffff) bytes = length.Read<uint64_t>();
  const auto rest = length.rest();
  if (!length.ok() || bytes == 0 || bytes > std::min<uint64_t>(rest.size(), kMostEntryBytes)) {
    return std::nullopt;
  }
  return ByteReader(rest.first(bytes), length.address());
}

std::optional<CommonEntry> ReadCommonEntry(Stretch from) {
  auto body = EntryBody(from);
  if (!body || body->Read<uint32_t>() != 0) return std::nullopt;
  CommonEntry entry;
  const auto version = body->Read<uint8_t>();
  const auto text = body->rest();
  const auto* end = static_cast<const uint8_t*>(memchr(text.data(), 0, text.size()));
  if (end == nullptr) return std::nullopt;
  std::string_view augmentation(reinterpret_cast<const char*>(text.data()),
                                static_cast<size_t>(end - text.data()));
  body->Skip(augmentation.size() + 1);
  entry.code_align = body->Uleb();
  entry.data_align = body->Sleb();
  entry.return_address = version == 1 ? body->Read<uint8_t>() : body->Uleb();
  if (augmentation.starts_with('z')) {
    entry.has_augmentation_data = true;
    const uint64_t bytes = body->Uleb();
    if (!body->ok() || bytes > body->rest().size()) return std::nullopt;
    ByteReader data(body->rest().first(bytes), body->address());
    augmentation.remove_prefix(1);
    for (const char letter : augmentation) {
      if (letter == 'R') entry.pointer_encoding = data.Read<uint8_t>();
      if (letter == 'L') data.Skip(1);
      if (letter == 'S') entry.is_signal_frame = true;
      if (letter == 'P') {
        // Only its size matters; it may well be indirect.
        const auto encoding = data.Read<uint8_t>();
        (void)data.Pointer(encoding & 0x0f, 0);
      }
    }
    body->Skip(bytes);
  } else if (!augmentation.empty()) {
    return std::nullopt;
  }
  entry.program = body->rest();
  if (!body->ok() || entry.return_address >= kRegisters) return std::nullopt;
  return entry;
}

// Runs the instructions of a CIE and an FDE up to one address.
class Program {
 public:
  Program(const CommonEntry& common, uint64_t begin) : common_(common), location_(begin) {
    row_.is_signal_frame = common.is_signal_frame;
    row_.return_address = static_cast<uint8_t>(common.return_address);
  }

  // False if an instruction is unknown or broken.
  bool Run(std::span<const uint8_t> instructions, uint64_t address) {
    ByteReader in(instructions, 0);
    while (!in.at_end()) {
      const auto code = in.Read<uint8_t>();
      if (!Step(code, in, address) || !in.ok()) return false;
      if (location_ > address) break;
    }
    return true;
  }

  void EndOfCommon() { initial_ = row_; }
  const UnwindRow& row() const { return before_ ? *before_ : row_; }

 private:
  using Kind = RegisterRule::Kind;

  void Set(uint64_t number, RegisterRule rule) {
    if (number < kRegisters) row_.rules[number] = rule;
  }
  // False once the row of the address wanted is complete.
  void Advance(uint64_t by, uint64_t address) {
    location_ += by * common_.code_align;
    if (location_ > address && !before_) before_ = row_;
  }
  void DefineCfa(uint64_t number, int64_t offset) {
    row_.cfa = number < kRegisters ? UnwindRow::Cfa::kRegisterPlusOffset : UnwindRow::Cfa::kNone;
    row_.cfa_register = static_cast<uint8_t>(number);
    row_.cfa_offset = offset;
  }
  // Modulo 2^64: broken tables hold any number.
  int64_t Times(int64_t factor) const {
    return static_cast<int64_t>(static_cast<uint64_t>(factor) *
                                static_cast<uint64_t>(common_.data_align));
  }
  int32_t Scaled(int64_t factor) const { return static_cast<int32_t>(Times(factor)); }
  static Expression Block(ByteReader& in) {
    const uint64_t bytes = in.Uleb();
    const auto rest = in.rest();
    const Expression block = bytes <= rest.size() ? rest.first(bytes) : rest.first(0);
    in.Skip(bytes);
    return block;
  }

  bool Step(uint8_t code, ByteReader& in, uint64_t address) {
    const uint8_t low = code & 0x3f;
    switch (code >> 6) {
      case 1:
        Advance(low, address);
        return true;
      case 2:
        Set(low, {Kind::kAtOffset, Scaled(static_cast<int64_t>(in.Uleb()))});
        return true;
      case 3:
        if (low < kRegisters) row_.rules[low] = initial_.rules[low];
        return true;
      default:
        return StepExtended(code, in, address);
    }
  }

  bool StepExtended(uint8_t code, ByteReader& in, uint64_t address) {
    switch (code) {
      case 0x00:  // nop
        return true;
      case 0x01:  // set_loc
        location_ = in.Pointer(common_.pointer_encoding, 0);
        if (location_ > address && !before_) before_ = row_;
        return true;
      case 0x02:
        Advance(in.Read<uint8_t>(), address);
        return true;
      case 0x03:
        Advance(in.Read<uint16_t>(), address);
        return true;
      case 0x04:
        Advance(in.Read<uint32_t>(), address);
        return true;
      case 0x0a:  // remember_state
        if (remembered_count_ == kMostRemembered) return false;
        remembered_[remembered_count_++] = row_;
        return true;
      case 0x0b:  // restore_state
        if (remembered_count_ == 0) return false;
        row_ = remembered_[--remembered_count_];
        return true;
      case 0x0c: {  // def_cfa
        const uint64_t number = in.Uleb();
        DefineCfa(number, static_cast<int64_t>(in.Uleb()));
        return true;
      }
      case 0x0d:  // def_cfa_register
        DefineCfa(in.Uleb(), row_.cfa_offset);
        return true;
      case 0x0e:  // def_cfa_offset
        row_.cfa_offset = static_cast<int64_t>(in.Uleb());
        return true;
      case 0x0f:  // def_cfa_expression
        row_.cfa = UnwindRow::Cfa::kExpression;
        row_.cfa_expression = Block(in);
        return true;
      case 0x12: {  // def_cfa_sf
        const uint64_t number = in.Uleb();
        DefineCfa(number, Times(in.Sleb()));
        return true;
      }
      case 0x13:  // def_cfa_offset_sf
        row_.cfa_offset = Times(in.Sleb());
        return true;
      case 0x2e:  // GNU_args_size
        (void)in.Uleb();
        return true;
#if defined(__aarch64__)
      case 0x2d:  // negate_ra_state: return addresses are signed, which the unwinder undoes
        return true;
#endif
      default:
        return StepRule(code, in);
    }
  }

  // Instructions that say where one register is.
  bool StepRule(uint8_t code, ByteReader& in) {
    const uint64_t number = in.Uleb();
    switch (code) {
      case 0x05:  // offset_extended
        Set(number, {Kind::kAtOffset, Scaled(static_cast<int64_t>(in.Uleb()))});
        return true;
      case 0x06:  // restore_extended
        if (number < kRegisters) row_.rules[number] = initial_.rules[number];
        return true;
      case 0x07:
        Set(number, {Kind::kUndefined});
        return true;
      case 0x08:
        Set(number, {Kind::kSame});
        return true;
      case 0x09:
        Set(number, {Kind::kRegister, static_cast<int32_t>(in.Uleb())});
        return true;
      case 0x10:
        Set(number, {Kind::kAtExpression, 0, Block(in)});
        return true;
      case 0x11:  // offset_extended_sf
        Set(number, {Kind::kAtOffset, Scaled(in.Sleb())});
        return true;
      case 0x14:  // val_offset
        Set(number, {Kind::kIsOffset, Scaled(static_cast<int64_t>(in.Uleb()))});
        return true;
      case 0x15:  // val_offset_sf
        Set(number, {Kind::kIsOffset, Scaled(in.Sleb())});
        return true;
      case 0x16:
        Set(number, {Kind::kIsExpression, 0, Block(in)});
        return true;
      default:
        return false;
    }
  }

  const CommonEntry& common_;
  uint64_t location_;
  UnwindRow row_;
  UnwindRow initial_;
  std::optional<UnwindRow> before_;  // the row when the address wanted was passed
  std::array<UnwindRow, kMostRemembered> remembered_;
  size_t remembered_count_ = 0;
};

constexpr uint8_t kSearchTableEncoding = 0x3b;  // datarel, sdata4: what every linker writes
constexpr size_t kSearchEntryBytes = 8;

}  // namespace

UnwindTables::UnwindTables(Stretch header, const ImageBytes& image)
    : header_(header), image_(image) {
  ByteReader in(header.bytes, header.address);
  const auto version = in.Read<uint8_t>();
  const auto frame_encoding = in.Read<uint8_t>();
  const auto count_encoding = in.Read<uint8_t>();
  const auto table_encoding = in.Read<uint8_t>();
  if (version != 1 || table_encoding != kSearchTableEncoding || count_encoding == kPointerOmitted) {
    return;
  }
  (void)in.Pointer(frame_encoding, header.address);
  const uint64_t count = in.Pointer(count_encoding, header.address);
  if (!in.ok() || count > in.rest().size() / kSearchEntryBytes) return;
  search_table_ = {in.rest(), in.address()};
  count_ = count;
}

UnwindTables::Entry UnwindTables::EntryAt(size_t index) const {
  int32_t values[2];
  std::memcpy(values, search_table_.bytes.data() + index * kSearchEntryBytes, sizeof values);
  return {header_.address + static_cast<uint64_t>(int64_t{values[0]}),
          header_.address + static_cast<uint64_t>(int64_t{values[1]})};
}

size_t UnwindTables::CountUntil(uint64_t address) const {
  size_t low = 0;
  size_t high = count_;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (EntryAt(middle).begin <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<UnwindRow> UnwindTables::RowAt(uint64_t address, uint64_t* read_bytes) const {
  const size_t count = CountUntil(address);
  if (count == 0) return std::nullopt;
  auto body = EntryBody(image_.From(EntryAt(count - 1).description));
  if (!body) return std::nullopt;
  const uint64_t id_address = body->address();
  const auto common_offset = body->Read<uint32_t>();
  if (common_offset == 0) return std::nullopt;
  const auto common = ReadCommonEntry(image_.From(id_address - common_offset));
  if (!common) return std::nullopt;
  if (read_bytes != nullptr) *read_bytes = common->program.size() + body->rest().size();
  const uint64_t begin = body->Pointer(common->pointer_encoding, 0);
  const uint64_t length = body->Pointer(common->pointer_encoding & 0x0f, 0);
  if (common->has_augmentation_data) body->Skip(body->Uleb());
  if (!body->ok() || address < begin || address - begin >= length) return std::nullopt;
  Program program(*common, begin);
  if (!program.Run(common->program, UINT64_MAX)) return std::nullopt;
  program.EndOfCommon();
  if (!program.Run(body->rest(), address)) return std::nullopt;
  return program.row();
}

}  // namespace batchlight::native
