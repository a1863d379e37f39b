// What a run lacks of a place in it, for who looks at the terminal. "": nothing.
#pragma once

#include <cstdint>
#include <string>

#include "serve/run.h"

namespace batchlight::serve {

// "has no step 99: its steps go from 0 to 7", of the first training process.
std::string LackOfStep(const Run& run, const std::string& number);
// "has nothing at 20s: ..."; `text` is the moment as it was asked for.
std::string LackOfMoment(const Run& run, int64_t at_ns, const std::string& text);
// No event has the text in its name; with names that look like it.
std::string LackOfName(const Run& run, const std::string& text);

}  // namespace batchlight::serve
