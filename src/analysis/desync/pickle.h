// Python's pickle, read as data: nothing in it is ever run or imported. What is not data, but an
// object or a call, is an error; but for the lists of PyTorch's own writer, which calls
// torch.jit._pickle.build_intlist and the like for them.
#pragma once

#include <cstddef>
#include <string_view>

#include "analysis/desync/plain_tree.h"
#include "base/status.h"

namespace batchlight {

bool IsPickle(std::string_view bytes);  // by its first bytes: protocol 2 or later

// Errors (kInput): damaged, too large, or not plain data; with the place. A value counts wherever
// it is named. The bytes have to live as long as the tree.
Result<PlainTree> ReadPickle(std::string_view bytes, size_t most_values);

}  // namespace batchlight
