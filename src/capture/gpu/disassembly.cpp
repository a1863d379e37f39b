#include "capture/gpu/disassembly.h"

#include <charconv>

namespace batchlight::capture {
namespace {

constexpr size_t kMostInstructionBytes = 200;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

// "/*0080*/  LDG.E R2, [R2.64] ;  /* 0x000fe2... */"
bool ParseInstruction(std::string_view line, uint64_t& offset, std::string_view& text) {
  constexpr std::string_view kOpen = "/*", kClose = "*/";
  if (!line.starts_with(kOpen)) return false;
  const size_t close = line.find(kClose);
  if (close == line.npos) return false;
  const char* const end = line.data() + close;
  const auto parsed = std::from_chars(line.data() + kOpen.size(), end, offset, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  text = line.substr(close + kClose.size());
  text = Trimmed(text.substr(0, text.find(';'))).substr(0, kMostInstructionBytes);
  return !text.empty();
}

}  // namespace

Disassembly ParseDisassembly(std::string_view text) {
  constexpr std::string_view kFunction = ".text.";
  Disassembly disassembly;
  std::map<uint64_t, std::string>* function = nullptr;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    uint64_t offset = 0;
    std::string_view instruction;
    if (line.starts_with(kFunction) && line.ends_with(':')) {
      function = &disassembly[std::string(
          line.substr(kFunction.size(), line.size() - kFunction.size() - 1))];
    } else if (function != nullptr && ParseInstruction(line, offset, instruction)) {
      function->try_emplace(offset, instruction);
    }
  }
  return disassembly;
}

std::string_view InstructionAt(const Disassembly& disassembly, std::string_view function,
                               uint64_t offset) {
  const auto found = disassembly.find(function);
  if (found == disassembly.end()) return {};
  const auto instruction = found->second.find(offset);
  return instruction == found->second.end() ? std::string_view() : instruction->second;
}

}  // namespace batchlight::capture
