"""A folder with a quota: a real one, of btrfs, which any root may set up on a loop device."""
import os
import shutil

from recorded import run


def quota_folder(test, below, megabytes):
    """below/disk/own: its disk has room, the folder has none beyond `megabytes`. Gone with the test."""
    if os.geteuid() != 0 or not shutil.which("mkfs.btrfs"):
        test.skipTest("only root can mount btrfs (apt-get install btrfs-progs)")
    image, disk = os.path.join(below, "image"), os.path.join(below, "disk")
    with open(image, "wb") as file:
        file.truncate(300 << 20)
    os.mkdir(disk)
    test.assertEqual(run("mkfs.btrfs", "-q", image).returncode, 0)
    mounted = run("mount", "-o", "loop", image, disk)
    if mounted.returncode != 0:
        test.skipTest("no btrfs in this kernel: " + mounted.stderr)
    test.addCleanup(run, "umount", "-l", disk)
    own = os.path.join(disk, "own")
    for words in (("quota", "enable", disk), ("subvolume", "create", own), ("qgroup", "limit", "%dM" % megabytes, own)):
        done = run("btrfs", *words)
        if done.returncode != 0:
            test.skipTest("no quotas here: " + done.stderr)
    return own
