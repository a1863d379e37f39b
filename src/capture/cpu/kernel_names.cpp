#include "capture/cpu/kernel_names.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace batchlight::capture {

std::vector<KernelFunction> ReadKernelFunctions(const char* path) {
  std::vector<KernelFunction> functions;
  std::ifstream file(path);
  // "ffffffff81000000 T _text", and of modules "\t[name]" behind it.
  for (std::string line; std::getline(file, line);) {
    char* end = nullptr;
    const uint64_t address = std::strtoull(line.c_str(), &end, 16);
    const auto type_at = static_cast<size_t>(end - line.c_str()) + 1;
    if (address == 0 || type_at + 2 >= line.size()) continue;
    const char type = line[type_at];
    if (type != 't' && type != 'T' && type != 'w' && type != 'W') continue;
    functions.push_back({address, line.substr(type_at + 2, line.find('\t') - type_at - 2)});
  }
  std::sort(functions.begin(), functions.end(),
            [](const KernelFunction& a, const KernelFunction& b) { return a.begin < b.begin; });
  return functions;
}

}  // namespace batchlight::capture
