#include "analysis/gradients/unheld_parameters.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "analysis/gradients/parts_apart.h"

namespace batchlight {
namespace {

// "model.layers.*.mlp" of "model.layers.12.mlp".
std::string WithoutNumbers(std::string_view path) {
  std::string text;
  while (true) {
    const size_t end = std::min(path.find('.'), path.size());
    const std::string_view part = path.substr(0, end);
    const bool is_number = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return c >= '0' && c <= '9';
    });
    text += is_number ? "*" : part;
    if (end == path.size()) return text;
    text += '.';
    path.remove_prefix(end + 1);
  }
}

bool HasAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != text.npos; });
}

}  // namespace

UnheldParameters::UnheldParameters(const Store& store, ProcessId process) : store_(store) {
  std::string_view text = store.Property("gradients.unheld", process);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers_);
  if (error != std::errc()) return;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  while (!text.empty()) {
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(" ,")));
    const size_t length = std::min(text.find(", "), text.size());
    if (length != 0) paths_.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

bool UnheldParameters::Holds(StringId module) {
  const auto [found, added] = known_.try_emplace(module.value, false);
  if (added) {
    const std::string_view path = store_.Text(module);
    const std::string starred = WithoutNumbers(path);
    found->second = std::any_of(paths_.begin(), paths_.end(), [&](std::string_view said) {
      return IsAtOrBelow(path, said) || IsAtOrBelow(starred, said);
    });
  }
  return found->second;
}

double WeightGradientShare(std::string_view function) {
  if (function.ends_with("AccumulateGrad")) return 1;
  if (function.find("Backward") == function.npos) return 0;
  if (HasAny(function, {"EmbeddingBackward", "EmbeddingDenseBackward"})) return 1;
  // A product of two activations has no weight: BmmBackward0 and BaddbmmBackward0.
  if (HasAny(function, {"Bmm", "Baddbmm"})) return 0;
  return HasAny(function, {"MmBackward", "AddmmBackward", "LinearBackward", "ConvolutionBackward"})
             ? 0.5
             : 0;
}

std::string NumbersText(uint64_t numbers) {
  char text[32];
  const double millions = static_cast<double>(numbers) / 1e6;
  if (millions >= 1000) {
    std::snprintf(text, sizeof text, "%.1f billion", millions / 1000);
  } else if (millions >= 1) {
    std::snprintf(text, sizeof text, "%.0f million", millions);
  } else if (numbers >= 1000) {
    std::snprintf(text, sizeof text, "%.0f thousand", millions * 1000);
  } else {
    std::snprintf(text, sizeof text, "%.0f", static_cast<double>(numbers));
  }
  return text;
}

}  // namespace batchlight
