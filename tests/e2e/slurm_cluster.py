"""A Slurm of four nodes on this machine, from Debian's packages. Its daemons live in a namespace of
their own and end with the test."""
import os
import shutil
import socket
import subprocess
import time

from recorded import LONG_S, run

NODES = 4
SLURM_CONF = """
ClusterName=batchlight
SlurmctldHost=%(host)s(127.0.0.1)
SlurmctldPort=%(port)d
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%(folder)s/munge/socket
CredType=cred/munge
StateSaveLocation=%(folder)s/state
SlurmdSpoolDir=%(folder)s/spool.%%n
SlurmctldPidFile=%(folder)s/slurmctld.pid
SlurmdPidFile=%(folder)s/slurmd.%%n.pid
SlurmctldLogFile=%(folder)s/slurmctld.log
SlurmdLogFile=%(folder)s/slurmd.%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
%(nodes)s
PartitionName=all Nodes=ALL Default=YES State=UP
"""
# slurmd looks for a cgroup file system, whatever it is told to use.
START = """
mount -t tmpfs none /sys/fs/cgroup
munged --foreground --force --socket=munge/socket --key-file=munge/key --pid-file=munge/pid \\
  --log-file=munge/log --seed-file=munge/seed > munged.out 2>&1 &
while ! [ -S munge/socket ]; do sleep 0.1; done
slurmctld -D -f slurm.conf > slurmctld.out 2>&1 &
# Each node has a disk of its own at disk/.
for node in 1 2 3 4; do
  unshare --mount --propagation private sh -c "
    if [ -d disk ]; then mount -t tmpfs none disk; fi
    exec slurmd -D -N n$node -f slurm.conf" > slurmd.$node.out 2>&1 &
done
wait
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def why_no_slurm():
    for program in ("munged", "slurmctld", "slurmd", "srun"):
        if not shutil.which(program, path="/usr/sbin:/sbin:" + os.environ.get("PATH", "")):
            return "no %s here" % program
    if os.getuid() != 0 or run("unshare", "-m", "-p", "-f", "true").returncode != 0:
        return "a Slurm of its own needs root and namespaces"
    return None


class SlurmCluster:
    """For a test in a folder: self.environment is that of one who uses it."""

    def set_up_slurm(self):
        host = socket.gethostname().split(".")[0]
        port, *ports = free_ports(1 + NODES)
        nodes = ["NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=4 State=UNKNOWN"
                 % (node + 1, host, port_of) for node, port_of in enumerate(ports)]
        for folder in ("munge", "state"):
            os.mkdir(self.path(folder), 0o700)
        with open(self.path("munge/key"), "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(self.path("munge/key"), 0o400)
        with open(self.path("slurm.conf"), "w") as file:
            file.write(SLURM_CONF % {"host": host, "port": port, "folder": self.folder,
                                     "nodes": "\n".join(nodes)})
        with open(self.path("cgroup.conf"), "w") as file:
            file.write("CgroupPlugin=cgroup/v1\n")
        self.environment["SLURM_CONF"] = self.path("slurm.conf")
        self.environment["PATH"] += ":/usr/sbin:/sbin"
        self.start_cluster()

    def start_cluster(self):
        words = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork",
                 "--kill-child", "--mount-proc", "sh", "-c", START]
        cluster = subprocess.Popen(words, cwd=self.folder, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)

        def end():
            cluster.kill()  # and with it all that is in its namespace
            cluster.wait(LONG_S)

        self.addCleanup(end)
        limit, idle = time.time() + 2 * LONG_S, ""
        while time.time() < limit and cluster.poll() is None:
            idle = run("sinfo", "-h", "-t", "idle", "-o", "%D", env=self.environment).stdout.strip()
            if idle == str(NODES):
                return
            time.sleep(0.2)
        logs = [name for name in os.listdir(self.folder) if name.endswith((".out", ".log"))]
        self.fail("no Slurm came up, idle nodes %r\n" % idle +
                  "\n".join("%s: %s" % (name, open(self.path(name)).read()[-600:]) for name in logs))
