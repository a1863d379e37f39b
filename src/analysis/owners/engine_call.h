// The operators around what autograd's engine runs.
#pragma once

#include <string_view>

namespace batchlight {

// Operators that start so are the engine's calls around the functions that it runs: the name of the
// function follows after ": ".
inline constexpr std::string_view kEngineCall = "autograd::engine::evaluate_function";

}  // namespace batchlight
