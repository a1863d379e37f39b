// The descriptors that whoever started the tool gave it for the program. Who reads the program's
// output to its end, or waits until nobody reads its own, waits for all that hold the other side: a
// tool that kept them for as long as it runs would make him wait for it too.
#pragma once

#include <vector>

namespace batchlight::capture {

inline constexpr char kProgramErrorVariable[] = "BATCHLIGHT_PROGRAM_STDERR";

enum class Inherits {
  kAll,     // the program is to be started again
  kOutput,  // the tool prints there when the program has ended
  kNothing,
};

class InheritedDescriptors {
 public:
  // Those that are open now and meant for other programs: before the tool opens any such.
  InheritedDescriptors();

  // What the program gets as its standard error, where whoever started the tool has given it one by
  // BATCHLIGHT_PROGRAM_STDERR (kernprof and `python -m batchlight run`, which keep what the tool
  // itself says apart); -1: the tool's. The variable is not the program's.
  int program_error() const { return program_error_; }

  // Besides the standard ones.
  const std::vector<int>& others() const { return others_; }

  // Once the program's process has them, before it runs. /dev/null takes the place of standard
  // input and output unless these are a terminal; standard error stays, as the tool says things
  // there.
  void LetGo(Inherits keeps) const;

 private:
  std::vector<int> others_;
  int program_error_ = -1;
};

}  // namespace batchlight::capture
