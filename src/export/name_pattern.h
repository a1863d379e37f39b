// A POSIX regular expression that a user gave for names, compiled within bounds: the C library's
// compiler recurses into parentheses until the stack ends, writes out repetitions one by one, and
// its back references can take for ever to match.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"

namespace batchlight {

class NamePattern {
 public:
  enum class Kind { kExtended, kBasicInAnyCase };

  // `option` is how messages call it. Errors: kUsage.
  static Result<NamePattern> Make(const std::string& option, const std::string& text, Kind kind);

  // Anywhere in the name.
  bool Matches(const std::string& name) const;

 private:
  struct Compiled;
  explicit NamePattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace batchlight
