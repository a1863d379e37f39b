// Inputs of an operator, from the recording's binary form to text and back. FORMAT.md, "Inputs of
// an operator", tells all three forms.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// Sizes only, as nsys prints them: "[[64, 2, 768], []]". Bytes that end early give the inputs that
// are whole.
std::string ShapesText(std::string_view binary);

// With types and integers: "f32[64, 2, 768], [1, 1], 2, -, [f32[8], f32[8]]".
std::string InputsText(std::string_view binary);

// Back from InputsText, for text recordings; "-" becomes "anything else". False if `text` is not of
// that form.
bool InputsFromText(std::string_view text, std::string* binary);

}  // namespace batchlight
