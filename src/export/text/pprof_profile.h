// A profile as pprof reads it, in the form of its profile.proto.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/protobuf_message.h"
#include "store/store.h"

namespace batchlight {

class PprofProfile {
 public:
  struct Label {
    std::string_view key;
    std::string_view text;
  };

  explicit PprofProfile(const Store& store) : store_(store) { Text(""); }

  // What the values of a sample are, in this order.
  void AddType(std::string_view type, std::string_view unit);
  // Places of a stack; the second is a function without a file.
  uint64_t Location(PythonFrameId frame);
  uint64_t Location(std::string_view function);
  // `locations`: innermost first.
  void AddSample(std::span<const uint64_t> locations, std::span<const int64_t> values,
                 std::span<const Label> labels);
  // `shown_first`: one of the types.
  std::string Finish(std::string_view shown_first);

 private:
  uint64_t Text(std::string_view text);
  uint64_t Function(std::string_view name, std::string_view file, uint32_t first_line);
  void AddLocation(uint64_t id, uint64_t function, uint32_t line);

  const Store& store_;
  ProtobufMessage profile_;
  std::vector<std::string> texts_;
  std::map<std::string, uint64_t> numbers_;
  std::map<PythonFrameId, uint64_t> python_locations_;
  std::map<std::string, uint64_t, std::less<>> named_locations_;
  std::map<std::tuple<uint64_t, uint64_t, uint32_t>, uint64_t> functions_;
};

}  // namespace batchlight
