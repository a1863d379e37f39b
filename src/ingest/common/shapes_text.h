// Inputs of an operator, from the recording's binary form to text and back. FORMAT.md, "Inputs of
// an operator", describes all three forms.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// Sizes only, as nsys prints them: "[[64, 2, 768], []]". Truncated bytes give the inputs that are
// complete.
std::string ShapesText(std::string_view binary);

// With types and integers: "f32[64, 2, 768], [1, 1], 2, -, [f32[8], f32[8]]".
std::string InputsText(std::string_view binary);

// The inverse of InputsText, for text recordings; "-" becomes "anything else". False if `text` does
// not have that form.
bool InputsFromText(std::string_view text, std::string* binary);

}  // namespace batchlight
