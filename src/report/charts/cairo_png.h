// What the drawings that become PNGs share of Cairo: the embedded fonts and the bytes of the file.
#pragma once

#include <cairo.h>

#include <string>

#include "base/status.h"

namespace batchlight {

// The embedded font. Lives as long as the program: Cairo's cache of scaled fonts goes on using it.
// nullptr, with which Cairo draws in a font of its own: FreeType cannot read it.
cairo_font_face_t* EmbeddedFace(bool bold);

// Errors: kInternal, of any drawing so far as well.
Result<std::string> PngBytes(cairo_t* cairo, cairo_surface_t* surface);

}  // namespace batchlight
