// Parquet's encoding of small numbers (which value of a row is missing, which text of a dictionary
// it is): runs of one value, and groups of eight packed into their bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace batchlight {

// Bits that numbers up to `largest` need, 0 for 0.
int BitsFor(uint32_t largest);

// Appends `values`, each below 2^bits; bits is 1 to 32.
void AppendRuns(std::span<const uint32_t> values, int bits, std::string& out);

}  // namespace batchlight
