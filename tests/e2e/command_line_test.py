"""What a user asks the program about itself: help, version, manual, and the completion of real shells."""
import glob
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, LONG_S, SOURCE, InFolder, run  # noqa: E402

SCRIPTS = os.path.join(SOURCE, "src", "cli", "completion")


class Asked(InFolder):
    def said(self, *words, code=0):
        done = run(BATCHLIGHT, *words, cwd=self.folder)
        self.assertEqual(done.returncode, code, (words, done.stderr))
        return done.stdout if code == 0 else done.stderr

    def test_help_is_the_same_however_it_is_asked(self):
        self.assertEqual(self.said("help"), self.said("--help"))
        self.assertEqual(self.said("help"), self.said("-h"))
        verbs = re.findall(r"(?m)^  ([a-z]+)  ", self.said("help"))
        for verb in ("profile", "summary", "dlprof", "start", "help", "version"):
            self.assertIn(verb, verbs)
        self.assertNotIn("complete", verbs)
        for verb in verbs:
            text = self.said("help", verb)
            if verb == "kernprof":
                continue  # the program behind it prints its own flags
            self.assertEqual(text, self.said(verb, "--help"), verb)
            self.assertRegex(text, r"(?m)^Usage: batchlight %s" % verb)
        self.assertEqual(self.said("help", "trace", "dump"), self.said("trace", "dump", "-h"))

    def test_version(self):
        self.assertRegex(self.said("version"), r"^batchlight \d+\.\d+\.\d+\n$")
        for words in (["-V"], ["--version"], ["dlprof", "-V"]):
            self.assertEqual(self.said(*words), self.said("version"))

    def test_what_there_is_not(self):
        self.assertIn("did you mean summary", self.said("help", "sumary", code=2))
        self.assertIn("did you mean dump", self.said("help", "trace", "dum", code=2))
        self.assertIn("no commands of its own", self.said("help", "tree", "x", code=2))
        self.assertIn("batchlight help", self.said(code=2))
        self.assertIn("unknown flag --sizee; did you mean --size? (batchlight probe storage --help",
                      self.said("probe", "storage", "--sizee", "1", ".", code=2))
        self.assertIn("batchlight probe storage --help", self.said("probe", "storage", code=2))
        self.assertNotIn("complete", self.said("complet", code=2).replace("completion", ""))

    def test_the_scripts_are_those_that_are_installed(self):
        for shell, name in (("bash", "batchlight.bash"), ("zsh", "_batchlight"),
                            ("fish", "batchlight.fish")):
            with open(os.path.join(SCRIPTS, name)) as file:
                self.assertEqual(self.said("completion", shell), file.read())
        self.assertIn("tcsh", self.said("completion", "tcsh", code=2))


class Manual(InFolder):
    def setUp(self):
        super().setUp()
        done = run(BATCHLIGHT, "help", "--man-pages", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.pages = sorted(glob.glob(self.path("*.1")))
        self.assertGreater(len(self.pages), 20)

    @unittest.skipUnless(shutil.which("mandoc"), "no mandoc here")
    def test_mandoc_has_nothing_to_say(self):
        # STYLE would have a date, which would make a page of each build another one.
        done = run("mandoc", "-Tlint", "-Wwarning", *self.pages)
        lines = [line for line in done.stdout.splitlines() if "missing date" not in line]
        self.assertEqual(lines, [])

    @unittest.skipUnless(shutil.which("man") and shutil.which("troff"), "no man here")
    def test_man_has_nothing_to_say(self):
        for page in self.pages:
            done = run("man", "--warnings", "-E", "UTF-8", "-l", page,
                       env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="80"))
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            self.assertIn("SYNOPSIS", done.stdout)


class Shell(InFolder):
    """The same questions in each shell. `complete(line)` gives the words that it offers."""

    def setUp(self):
        super().setUp()
        os.makedirs(self.path("bin"))
        os.symlink(BATCHLIGHT, self.path("bin/batchlight"))
        self.environment.update(PATH=self.path("bin") + ":/usr/bin:/bin", HOME=self.folder,
                                LC_ALL="C.UTF-8", TERM="dumb")
        os.makedirs(self.path("runs"))
        for name in ("run.batchlight", "notes.txt", "a name.sqlite", "runs/deep.json.gz"):
            open(self.path(name), "w").close()

    def check(self, complete):
        for line, words in (("batchlight tre", ["tree"]), ("batchlight tree --dep", ["--depth"]),
                            ("batchlight trace ass", ["assemble"]),
                            ("batchlight export -t chr", ["chrome"]),
                            ("batchlight help trace d", ["dump"])):
            self.assertEqual(complete(line), words, line)
        self.assertEqual(set(complete("batchlight completion ")), {"bash", "zsh", "fish"})
        self.assertIn("key_averages", complete("batchlight table run.batchlight "))
        self.assertIn("cuda_gpu_kern_sum", complete("batchlight stats -r cuda_g"))

    def check_files(self, complete):
        runs = [word.replace("\\", "").rstrip("/") for word in complete("batchlight summary ")]
        self.assertEqual(sorted(runs), ["a name.sqlite", "bin", "run.batchlight", "runs"])
        self.assertEqual(complete("batchlight summary runs/d"), ["runs/deep.json.gz"])
        self.assertIn("notes.txt", complete("batchlight trace assemble n"))


class Bash(Shell):
    SETUP = "source %s\n" % os.path.join(SCRIPTS, "batchlight.bash")

    def complete(self, line):
        # As readline calls it, with words parted at = and : too.
        script = self.SETUP + r"""
        compopt() { :; }
        line=$1
        COMP_LINE=$line COMP_POINT=${#line} COMP_WORDS=() COMP_TYPE=9 COMP_KEY=9
        eval "COMP_WORDS=(${line//=/ = })"
        [[ $line == *[[:space:]] ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _batchlight
        (( ${#COMPREPLY[@]} )) && printf '%s\n' "${COMPREPLY[@]}"
        true
        """
        done = run("bash", "--norc", "-c", script, "bash", line, cwd=self.folder, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return done.stdout.splitlines()

    def test_words(self):
        self.check(self.complete)
        self.check_files(self.complete)

    def test_what_bash_parts_at_an_equals_sign(self):
        self.assertEqual(self.complete("batchlight export --type=chr"), ["chrome"])
        self.assertEqual(self.complete("batchlight profile --export=sqlite,chr"), ["sqlite,chrome"])
        self.assertEqual(self.complete("batchlight tree --run=runs/d"), ["runs/deep.json.gz"])
        self.assertIn("sqlite", self.complete("batchlight export --type="))

    def test_the_program_is_completed_as_if_it_stood_alone(self):
        self.assertIn("python3", self.complete("batchlight profile -o x pyth"))

    @unittest.skipUnless(os.path.exists("/usr/share/bash-completion/bash_completion"),
                         "no bash-completion here")
    def test_beside_bash_completion(self):
        self.SETUP = "source /usr/share/bash-completion/bash_completion\n" + self.SETUP + \
            "_myprog() { COMPREPLY=(\"$COMP_CWORD-${COMP_WORDS[*]}\"); }; complete -F _myprog myprog\n"
        self.check(self.complete)
        self.assertEqual(self.complete("batchlight profile --delay=1 myprog a b"), ["2-myprog a b"])


@unittest.skipUnless(shutil.which("fish"), "no fish here")
class Fish(Shell):
    def complete(self, line):
        script = "source %s; complete -C (string join ' ' -- $argv)" % os.path.join(
            SCRIPTS, "batchlight.fish")
        done = run("fish", "--no-config", "-c", script, line, cwd=self.folder, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    def test_words(self):
        self.check(self.complete)
        self.check_files(self.complete)

    def test_values_after_an_equals_sign(self):
        self.assertEqual(self.complete("batchlight export --type=chr"), ["--type=chrome"])
        self.assertEqual(self.complete("batchlight tree --run=runs/d"), ["--run=runs/deep.json.gz"])

    def test_the_program_is_completed_as_if_it_stood_alone(self):
        self.assertIn("python3", self.complete("batchlight profile -o x python"))


@unittest.skipUnless(shutil.which("zsh"), "no zsh here")
class Zsh(Shell):
    """At a terminal: zsh completes nowhere else."""

    def complete(self, line):
        main, other = pty.openpty()
        subprocess.run(["stty", "cols", "80", "rows", "100", "-echo"], stdin=other, check=True)
        shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=other, stdout=other, stderr=other,
                                 cwd=self.folder, env=self.environment)
        os.close(other)
        try:
            # What would be put on the line is printed instead, each word once.
            self.ask(main, r"""
                PS1= PS2= RPS1=; unsetopt zle_bracketed_paste prompt_cr prompt_sp beep
                autoload -U compinit; compinit -D -u; source %s
                compadd() {
                  local -a found; builtin compadd -O found "$@"
                  (( $#found )) && print -rl -- ${found/#/OFFER:$IPREFIX} >> offers
                  builtin compadd "$@"
                }
                bindkey '^I' complete-word; print ready
                """ % os.path.join(SCRIPTS, "_batchlight"), "ready")
            os.write(main, (line + "\t").encode())
            self.wait_for_offers(main)
        finally:
            shell.kill()
            shell.wait()
            os.close(main)
        with open(self.path("offers")) as file:
            words = [row[len("OFFER:"):].rstrip("\n") for row in file]
        os.remove(self.path("offers"))
        return list(dict.fromkeys(words))

    def ask(self, main, script, until):
        for part in script.strip().splitlines():
            os.write(main, (part + "\n").encode())
        self.read(main, lambda text: until in text)

    def read(self, main, enough):
        text, limit = "", time.time() + LONG_S
        while time.time() < limit and not enough(text):
            if select.select([main], [], [], 0.2)[0]:
                text += os.read(main, 65536).decode(errors="replace")
        self.assertTrue(enough(text), text)

    def wait_for_offers(self, main):
        """Until the list no longer grows: zsh says nothing when it has offered all."""
        sizes = [-1]

        def settled(_):
            size = os.path.getsize(self.path("offers")) if os.path.exists(self.path("offers")) else 0
            sizes.append(size)
            return size > 0 and sizes[-4:].count(size) == 4
        self.read(main, settled)

    def test_words(self):
        self.check(self.complete)

    def test_files(self):
        offered = self.complete("batchlight summary ")
        self.assertIn("run.batchlight", offered)
        self.assertNotIn("notes.txt", offered)

    def test_values_after_an_equals_sign(self):
        self.assertEqual(self.complete("batchlight export --type=chr"), ["--type=chrome"])

    def test_the_program_is_completed_as_if_it_stood_alone(self):
        self.assertIn("python3", self.complete("batchlight profile -o x python"))


if __name__ == "__main__":
    unittest.main()
