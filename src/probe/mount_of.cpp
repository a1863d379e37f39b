#include "probe/mount_of.h"

#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace batchlight::probe {
namespace {

// "\040" is a space in mountinfo.
std::string Unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool Holds(const std::string& mount_point, const std::string& path) {
  if (mount_point == "/" || mount_point == path) return true;
  return path.starts_with(mount_point + "/");
}

}  // namespace

Mount MountOf(const std::string& real_path, const std::string& mountinfo) {
  Mount found;
  size_t longest = 0;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    // "36 35 98:0 /root /mount/point options [fields] - type source options"
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    size_t dash = 6;
    while (dash < words.size() && words[dash] != "-") ++dash;
    if (dash + 2 >= words.size()) continue;
    const std::string point = Unescaped(words[4]);
    // Of several at one place the last one covers the others.
    if (!Holds(point, real_path) || point.size() < longest) continue;
    longest = point.size();
    found = {words[dash + 1], Unescaped(words[dash + 2])};
  }
  return found;
}

}  // namespace batchlight::probe
