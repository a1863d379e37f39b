// The part of canvas.h that Cairo does elsewhere. Only the width of text is needed for SVG: the sum
// of what the embedded font says of each letter.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "report/assets/embedded.h"
#include "report/charts/canvas.h"

namespace batchlight {
namespace {

// A TrueType file: https://learn.microsoft.com/typography/opentype/spec/otff. Ours, so it is
// trusted.
class FontWidths {
 public:
  explicit FontWidths(std::string_view file) : file_(file) {
    const std::string_view head = Table("head");
    const std::string_view hhea = Table("hhea");
    units_ = At16(head, 18);
    widths_ = At16(hhea, 34);
    hmtx_ = Table("hmtx");
    const std::string_view cmap = Table("cmap");
    for (unsigned i = 0; i < At16(cmap, 2); ++i) {
      const std::string_view part = cmap.substr(At32(cmap, 8 + 8 * i));
      if (At16(part, 0) == 4) segments_ = part;
    }
  }

  double OfLetter(uint32_t letter) const {
    const unsigned glyph = std::min(GlyphOf(letter), widths_ - 1);
    return double(At16(hmtx_, 4 * glyph)) / units_;
  }

 private:
  static unsigned At16(std::string_view bytes, size_t at) {
    return static_cast<unsigned>(static_cast<uint8_t>(bytes[at])) << 8 |
           static_cast<uint8_t>(bytes[at + 1]);
  }
  static uint32_t At32(std::string_view bytes, size_t at) {
    return At16(bytes, at) << 16 | At16(bytes, at + 2);
  }

  std::string_view Table(std::string_view tag) const {
    for (unsigned i = 0; i < At16(file_, 4); ++i) {
      const size_t row = 12 + size_t{16} * i;
      if (file_.substr(row, 4) == tag) return file_.substr(At32(file_, row + 8));
    }
    return {};
  }

  // Format 4: ends, starts, differences and places of stretches of letters, each a list.
  unsigned GlyphOf(uint32_t letter) const {
    const unsigned twice = At16(segments_, 6);
    for (unsigned i = 0; i < twice; i += 2) {
      if (letter > At16(segments_, 14 + i)) continue;
      const unsigned start = At16(segments_, 16 + twice + i);
      if (letter < start) return 0;
      const unsigned difference = At16(segments_, 16 + 2 * twice + i);
      const size_t place = 16 + 3 * twice + i;
      const unsigned offset = At16(segments_, place);
      if (offset == 0) return (letter + difference) & 0xffff;
      const unsigned glyph = At16(segments_, place + offset + 2 * (letter - start));
      return glyph == 0 ? 0 : (glyph + difference) & 0xffff;
    }
    return 0;
  }

  std::string_view file_;
  std::string_view hmtx_;
  std::string_view segments_;
  unsigned units_ = 1;
  unsigned widths_ = 1;
};

uint32_t NextLetter(std::string_view text, size_t& at) {
  const auto first = static_cast<uint8_t>(text[at++]);
  if (first < 0x80) return first;
  uint32_t letter = first & (first >= 0xf0 ? 7 : first >= 0xe0 ? 15 : 31);
  while (at < text.size() && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) {
    letter = letter << 6 | (static_cast<uint8_t>(text[at++]) & 0x3f);
  }
  return letter;
}

class NoCanvas final : public Canvas {
 public:
  void Box(double, double, double, double, Rgb) override {}
  void Line(const std::vector<std::pair<double, double>>&, double, Rgb) override {}
  void Text(double, double, const std::string&, Font, Anchor, Rgb) override {}
  Result<std::string> Finish() override {
    return UsageError("pictures are drawn as PNG on Linux alone; take SVG (-f svg)");
  }
};

}  // namespace

double TextWidth(const std::string& clean, Font font) {
  static const FontWidths kRegular(FontRegular());
  static const FontWidths kBold(FontBold());
  const FontWidths& widths = font.bold ? kBold : kRegular;
  double width = 0;
  for (size_t at = 0; at < clean.size();) width += widths.OfLetter(NextLetter(clean, at));
  return width * font.size;
}

std::unique_ptr<Canvas> MakePngCanvas(double, double) { return std::make_unique<NoCanvas>(); }

bool CanDrawPng() { return false; }

}  // namespace batchlight
