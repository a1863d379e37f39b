#include "report/charts/cairo_png.h"

#include <cairo-ft.h>
#include <ft2build.h>

#include <string_view>

#include "report/assets/embedded.h"
#include FT_FREETYPE_H

namespace batchlight {
namespace {

cairo_font_face_t* LoadFace(std::string_view file) {
  FT_Library library = nullptr;
  FT_Face face = nullptr;
  if (FT_Init_FreeType(&library) != 0) return nullptr;
  const auto* bytes = reinterpret_cast<const FT_Byte*>(file.data());
  if (FT_New_Memory_Face(library, bytes, static_cast<FT_Long>(file.size()), 0, &face) != 0) {
    return nullptr;
  }
  return cairo_ft_font_face_create_for_ft_face(face, 0);
}

}  // namespace

cairo_font_face_t* EmbeddedFace(bool bold) {
  static cairo_font_face_t* const kFaces[] = {LoadFace(FontRegular()), LoadFace(FontBold())};
  return kFaces[bold ? 1 : 0];
}

Result<std::string> PngBytes(cairo_t* cairo, cairo_surface_t* surface) {
  std::string bytes;
  const auto write = [](void* out, const unsigned char* data, unsigned int size) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), size);
    return CAIRO_STATUS_SUCCESS;
  };
  cairo_status_t status = cairo_status(cairo);
  if (status == CAIRO_STATUS_SUCCESS) {
    status = cairo_surface_write_to_png_stream(surface, write, &bytes);
  }
  if (status == CAIRO_STATUS_SUCCESS) return bytes;
  return Status::Error(ErrorKind::kInternal,
                       std::string("drawing a picture: ") + cairo_status_to_string(status));
}

}  // namespace batchlight
