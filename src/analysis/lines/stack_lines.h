// Which line each Python stack stands for, and what its frames say about it.
#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct StackLine {
  PythonFrameId frame;      // innermost of the user's own code, else of an installed package, ...
  bool recomputes = false;  // a frame of torch.utils.checkpoint calls it
  bool optimizes = false;   // a frame of torch.optim does
  // What runs below the line, which only asked for it:
  bool loads = false;    // PyTorch's DataLoader
  bool imports = false;  // an import
  // The recorder runs there for itself: innermost, or in what it calls to look at the program.
  bool records = false;
};

class StackLines {
 public:
  StackLines() = default;
  explicit StackLines(const Store& store);

  const StackLine& Of(PythonStackId stack) const { return lines_[stack.row()]; }
  bool empty() const { return lines_.empty(); }

 private:
  std::vector<StackLine> lines_;  // by row of store.python_stacks
};

// Whether operators or CUDA calls tell from where they were called; samples have stacks too.
bool HasCallStacks(const Store& store);

// The line's callers in the user's own code, innermost first: "train.py:40 main < train.py:90
// <module>". "": there are none.
std::string CallersText(const Store& store, PythonStackId stack, PythonFrameId line);

}  // namespace batchlight
