// Numbers in the sentences of findings: plain, three significant digits.
#pragma once

#include <string>

namespace batchlight {

std::string TimeOf(double ns);        // "12.3 ms", below 0.1 ms "4.20 µs"
std::string PercentOf(double share);  // 0.253 -> "25 %"
std::string Rounded(double value);    // "713", "4.2"

}  // namespace batchlight
