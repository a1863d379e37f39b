#include "probe/mount_of.h"

#include <gtest/gtest.h>

namespace batchlight::probe {
namespace {

constexpr char kMounts[] =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "30 22 0:26 / /data rw,relatime - nfs4 server:/export rw,vers=4.2\n"
    "31 30 0:27 / /data/my\\040fast\\040disk rw master:2 shared:4 - xfs /dev/nvme0n1p1 rw\n"
    "32 22 0:28 / /mnt rw - tmpfs none rw\n"
    "33 22 0:29 / /mnt rw - fuse.sshfs me@host: rw\n"
    "broken line\n";

TEST(MountOf, LongestWayInCommon) {
  EXPECT_EQ(MountOf("/home/me", kMounts).file_system, "ext4");
  EXPECT_EQ(MountOf("/data/train", kMounts).device, "server:/export");
  EXPECT_EQ(MountOf("/database", kMounts).device, "/dev/vda");
  EXPECT_EQ(MountOf("/data", kMounts).file_system, "nfs4");
  EXPECT_EQ(MountOf("/data/my fast disk/x", kMounts).file_system, "xfs");
}

TEST(MountOf, TheLastOfSeveralAtOnePlace) {
  EXPECT_EQ(MountOf("/mnt/x", kMounts).file_system, "fuse.sshfs");
}

TEST(MountOf, NothingKnown) { EXPECT_EQ(MountOf("/x", "").file_system, ""); }

}  // namespace
}  // namespace batchlight::probe
