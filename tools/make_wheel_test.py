"""The wheel of a cross build, made from stand-ins for what is installed."""
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

TOOL = pathlib.Path(__file__).with_name('make_wheel.py')
AARCH64, X86_64, RISCV = 183, 62, 243


def elf(machine):
    return b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HH', 3, machine)


class MakeWheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make(self, machines):
        """What make_wheel.py says of a build whose install rules bring these programs."""
        build = self.folder / 'build'
        files = {'bin/batchlight': 0, 'lib/libbatchlight_inject.so': 1, 'lib/batchlight/host_query': 2}
        build.mkdir()
        (build / 'CMakeCache.txt').write_text('CMAKE_PROJECT_VERSION:STATIC=1.2.3\n')
        rules = ''
        for name, which in {**files, 'share/batchlight/python/batchlight/__init__.py': None}.items():
            path = build / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b'' if which is None else elf(machines[which]))
            path.chmod(0o755)
            place = '${CMAKE_INSTALL_PREFIX}/' + str(path.parent.relative_to(build))
            rules += f'file(INSTALL "{path}" DESTINATION "{place}" USE_SOURCE_PERMISSIONS)\n'
        (build / 'cmake_install.cmake').write_text(rules)
        return subprocess.run([sys.executable, TOOL, build, self.folder / 'dist'], capture_output=True, text=True)

    def test_the_tag_is_that_of_the_processor(self):
        done = self.make([AARCH64] * 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        wheel = pathlib.Path(done.stdout.strip())
        self.assertEqual(wheel.name, 'batchlight-1.2.3-py3-none-manylinux2014_aarch64.whl')
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            self.assertIn('Tag: py3-none-manylinux2014_aarch64\n',
                          archive.read('batchlight-1.2.3.dist-info/WHEEL').decode())
        for name in ('batchlight-1.2.3.data/scripts/batchlight', 'batchlight/__init__.py',
                     'batchlight-1.2.3.data/data/lib/batchlight/host_query',
                     'batchlight-1.2.3.data/data/share/batchlight/from_wheel'):
            self.assertIn(name, names)

    def test_a_build_of_two_processors_is_refused(self):
        done = self.make([AARCH64, AARCH64, X86_64])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('x86_64 (lib/batchlight/host_query)', done.stderr)
        self.assertFalse((self.folder / 'dist').exists())

    def test_an_unknown_processor_is_refused(self):
        self.assertIn('ELF machine 243', self.make([RISCV] * 3).stderr)


if __name__ == '__main__':
    unittest.main()
