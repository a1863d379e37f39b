#include "analysis/desync/desync_sentence.h"

#include <algorithm>
#include <string_view>

namespace batchlight {
namespace {

std::string Capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

// "waits" of one, "wait" of several.
std::string ForRanks(std::span<const int32_t> ranks, std::string_view one, std::string_view many) {
  return std::string(ranks.size() == 1 ? one : many);
}

}  // namespace

std::string CountWithCommas(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string NamesOfRanks(std::span<const int32_t> ranks) {
  constexpr size_t kMost = 8;
  std::string text = ForRanks(ranks, "rank", "ranks");
  for (size_t i = 0; i < std::min(ranks.size(), kMost); ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(ranks[i]);
  }
  if (ranks.size() > kMost) text += " and " + CountWithCommas(ranks.size() - kMost) + " more";
  return text;
}

std::string DesyncSentence(const Desync& found) {
  const std::string call =
      "call " + CountWithCommas(found.number) + " of group " + found.group + ", " + found.call;
  switch (found.kind) {
    case DesyncKind::kDiffers:
      return Capital(NamesOfRanks(found.others)) + " " + ForRanks(found.others, "makes", "make") +
             " " + found.other_call + " as " + call + " on the others.";
    case DesyncKind::kMissing:
      return Capital(NamesOfRanks(found.others)) + " " + ForRanks(found.others, "has", "have") +
             " not come to " + call + ": " + NamesOfRanks(found.waiting) + " " +
             ForRanks(found.waiting, "waits", "wait") + " there.";
    case DesyncKind::kUnfinished:
      break;
  }
  std::string text = "All ranks that are known came to " + call + ", and it does not end";
  if (found.others.empty()) {
    return text +
           ": look at ranks that are not known, the network and the GPUs' errors (dmesg, Xid).";
  }
  return text + ": it has not begun on " + NamesOfRanks(found.others) +
         ", whose GPU is busy with something else, or stands.";
}

}  // namespace batchlight
