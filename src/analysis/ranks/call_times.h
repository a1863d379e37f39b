// When each call of a rank ended, some 3 bytes a call: differences from the one before, in ticks,
// seven bits a byte. To be read from the first to the last.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight {

// Times of calls count in ticks; 32 bits of lengths of kernels hold a minute.
inline constexpr int64_t kCallTickNs = 16;

class CallTimes {
 public:
  void Append(int64_t time_ns);

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  std::vector<int64_t> Decode() const;  // ns, multiples of kCallTickNs

  // As they are kept. Of bytes that are no such times: nothing is taken, false.
  std::string_view bytes() const { return bytes_; }
  bool Take(std::string_view bytes, size_t size);

  bool operator==(const CallTimes&) const = default;

 private:
  std::string bytes_;
  size_t size_ = 0;
  int64_t last_ticks_ = 0;
};

}  // namespace batchlight
