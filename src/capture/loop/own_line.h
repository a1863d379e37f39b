// What `ps`, `pgrep -f` and `pkill -f` find this process by: the words that it was started with.
#pragma once

#include <cstddef>
#include <string_view>

namespace batchlight::capture {

class OwnLine {
 public:
  // Where the kernel reads it; known to nobody if argv[0] is not where it was.
  OwnLine();
  bool known() const { return place_ != nullptr; }

  // What is behind the first `words` goes.
  void Keep(int words) const;
  // All of it goes but this. No more than a copy: after a fork beside threads too.
  void Show(std::string_view text) const;

 private:
  char* place_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace batchlight::capture
