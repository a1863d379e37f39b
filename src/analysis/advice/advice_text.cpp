#include "analysis/advice/advice_text.h"

#include <cstdio>

namespace batchlight {
namespace {

std::string Print(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

std::string Rounded(double value) {
  if (value >= 100) return Print("%.0f", value);
  if (value >= 10) return Print("%.1f", value);
  return Print("%.2f", value);
}

std::string TimeOf(double ns) {
  return ns < 100'000 ? Rounded(ns / 1e3) + " µs" : Rounded(ns / 1e6) + " ms";
}

std::string PercentOf(double share) {
  return Print(share < 0.1 ? "%.1f %%" : "%.0f %%", share * 100);
}

}  // namespace batchlight
