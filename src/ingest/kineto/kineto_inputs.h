// Inputs of an operator as Kineto writes them, to the texts of the store.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// "Input Dims", raw: [[64,768],[],[[8],[8]]] to "[[64, 768], [], [[8], [8]]]".
std::string ShapesFromDims(std::string_view dims);

// With "Input type" and "Concrete Inputs", raw, both "" where not recorded: to the form of
// InputsText (shapes_text.h).
std::string InputsFromKineto(std::string_view dims, std::string_view types,
                             std::string_view concrete);

}  // namespace batchlight
