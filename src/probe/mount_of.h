// What a path is mounted from.
#pragma once

#include <string>

namespace batchlight::probe {

struct Mount {
  std::string file_system;  // "ext4"; "" = not known
  std::string device;       // "/dev/sda1", "server:/export"
};

// By the text of /proc/self/mountinfo: the mount with the longest way in common with `real_path`,
// which is absolute and free of links.
Mount MountOf(const std::string& real_path, const std::string& mountinfo);

}  // namespace batchlight::probe
