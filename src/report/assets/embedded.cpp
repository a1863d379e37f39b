#include "report/assets/embedded.h"

#include <cstddef>

// The paths come from CMake, which also rebuilds this file when one of them changes.
#define EMBED(symbol, path)            \
  asm(".section .rodata\n"             \
      ".global " #symbol               \
      "\n"                             \
      ".global " #symbol               \
      "_end\n"                         \
      ".balign 16\n" #symbol           \
      ":\n"                            \
      ".incbin \"" path "\"\n" #symbol \
      "_end:\n"                        \
      ".byte 0\n"                      \
      ".text\n");                      \
  extern "C" const char symbol[];      \
  extern "C" const char symbol##_end[];

EMBED(batchlight_report_script, BATCHLIGHT_REPORT_SCRIPT)
EMBED(batchlight_report_style, BATCHLIGHT_REPORT_STYLE)
EMBED(batchlight_timeline_script, BATCHLIGHT_TIMELINE_SCRIPT)
EMBED(batchlight_timeline_style, BATCHLIGHT_TIMELINE_STYLE)
EMBED(batchlight_font_regular, BATCHLIGHT_FONT_REGULAR)
EMBED(batchlight_font_bold, BATCHLIGHT_FONT_BOLD)

namespace batchlight {
namespace {

std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::string_view ReportScript() {
  return Between(batchlight_report_script, batchlight_report_script_end);
}
std::string_view ReportStyle() {
  return Between(batchlight_report_style, batchlight_report_style_end);
}
std::string_view TimelineScript() {
  return Between(batchlight_timeline_script, batchlight_timeline_script_end);
}
std::string_view TimelineStyle() {
  return Between(batchlight_timeline_style, batchlight_timeline_style_end);
}
std::string_view FontRegular() {
  return Between(batchlight_font_regular, batchlight_font_regular_end);
}
std::string_view FontBold() { return Between(batchlight_font_bold, batchlight_font_bold_end); }

}  // namespace batchlight
