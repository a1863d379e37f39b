// Cairo code that all PNG drawings share: the embedded fonts and the bytes of the file.
#pragma once

#include <cairo.h>

#include <string>

#include "base/status.h"

namespace batchlight {

// The embedded font. It lives as long as the program, because Cairo's cache of scaled fonts keeps
// using it. If FreeType cannot read the font, returns nullptr, with which Cairo draws in a font of
// its own.
cairo_font_face_t* EmbeddedFace(bool bold);

// Errors: kInternal, also for an earlier drawing call that failed.
Result<std::string> PngBytes(cairo_t* cairo, cairo_surface_t* surface);

}  // namespace batchlight
