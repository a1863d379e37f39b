"""One number, one value: a figure has the same digits wherever it is shown, says whose it is, and no
table of parts exceeds its whole. Over every recording that the tests have."""
import collections
import lzma
import pathlib
import tempfile
import unittest

from figures import Views, shown
from recorded import SOURCE

TESTS = pathlib.Path(SOURCE, "tests")
NSYS = TESTS / "recordings" / "nsys-2025.3"
MOST_PERCENT = 100.05  # of a sum of rounded shares


class Figure:
    """The values of one figure by the view that gives them: a text as shown, or a number."""

    def __init__(self, name):
        self.name = name
        self.texts = {}
        self.numbers = {}

    def problems(self):
        """Views whose digits differ."""
        found = []
        for view, text in self.texts.items():
            value, digit = shown(text)
            for other, number in self.numbers.items():
                if abs(number - value) > 0.5001 * digit + 1e-6 * abs(value):
                    found.append(f"{self.name}: {text} in {view}, {number} in {other}")
            for other, more in self.texts.items():
                theirs, coarse = shown(more)
                if abs(theirs - value) > 0.5001 * max(digit, coarse) + 1e-9 * abs(value):
                    found.append(f"{self.name}: {text} in {view}, {more} in {other}")
        values = list(self.numbers.items())
        for view, number in values[1:]:
            if abs(number - values[0][1]) > 0.5 + 1e-6 * abs(number) and abs(number) > 100:
                found.append(f"{self.name}: {values[0][1]} in {values[0][0]}, {number} in {view}")
        return found


class Collector:
    def __init__(self, views):
        self.views = views
        self.figures = {}
        self.process = next(iter(views.json["steps"]["processes"]), None)
        self.training = next(iter(views.page["training"]), None)

    def text(self, name, view, text):
        self.figures.setdefault(name, Figure(name)).texts[view] = text

    def number(self, name, view, number):
        if number is not None and number != "":
            self.figures.setdefault(name, Figure(name)).numbers[view] = float(number)

    def all(self):
        if self.process:
            self.steps()
            self.phases("phase", "What a step is made of", self.process["phases"], 0)
        self.gpu()
        self.kernels()
        self.lists()
        return self.figures

    # --- steps ----------------------------------------------------------------------------------

    def steps(self):
        views, process = self.views, self.process
        summary = self.training["tracks"][0]["summary"]
        words = " ".join(views.section("Steps")).split()
        for name in ("median", "mean"):
            # "(median; mean 42.9 µs)" is of the GPU's steps.
            places = [at for at, word in enumerate(words[:-2])
                      if word == name and ")" not in words[at + 2]]
            if places:
                self.text(f"{name} step", "terminal", " ".join(words[places[0] + 1:places[0] + 3]))
            self.number(f"{name} step", "JSON", process["duration"][f"{name}_ns"])
            self.number(f"{name} step", "page", summary[f"{name}_ns"])
            self.number(f"{name} step", "CSV", views.figure(f"{name} step"))
        for unit in ("steps/s", "steps/min"):
            if unit in words:
                self.text("rate", "terminal", f"{words[words.index(unit) - 1]} {unit}")
            if f"{unit})" in words:  # "mean 45.9 ms (21.8 steps/s)"
                number = words[words.index(f"{unit})") - 1].strip("(")
                self.text("mean rate", "terminal", f"{number} {unit}")
        self.number("rate", "JSON", process.get("steps_per_second"))
        self.number("rate", "CSV", views.figure("rate"))
        self.number("mean rate", "JSON", process["mean_steps_per_second"])
        self.number("mean rate", "CSV", views.figure("mean rate"))
        rate = self.training.get("rate")
        self.text("rate", "page", rate["text"] if rate else self.rate_of_old_page(summary))
        words = views.snippet.replace("steps/s.", "steps/s").replace("steps/min.", "steps/min").split()
        for unit in ("steps/s", "steps/min"):
            if unit in words:
                self.text("rate", "snippet", f"{words[words.index(unit) - 1]} {unit}")
        shares = {row[0]: row for row in views.snippet_table("Phase")}
        if "**step** (mean)" in shares:
            self.text("mean step", "snippet", shares["**step** (mean)"][1].strip("*"))

    def rate_of_old_page(self, summary):
        period = summary["mean_ns"] + self.training["tracks"][0].get("between_ns", 0)
        return f"{1e9 / period:.6f} steps/s"

    def phases(self, what, title, phases, track):
        """Mean and share of every phase of the CPU's step."""
        views = self.views
        for row in views.table(title):
            if row[""] == "step":
                continue
            for head, cell in row.items():
                if head.startswith("mean "):
                    self.text(f"{what} {row['']} mean", "terminal", f"{cell} {head.split()[1]}")
                if cell.endswith("%"):
                    self.text(f"{what} {row['']} share", "terminal", cell)
        for phase in phases:
            self.number(f"{what} {phase['name']} share", "JSON", phase["share"] * 100)
            self.number(f"{what} {phase['name']} mean", "JSON", phase["time"]["mean_ns"])
        for row in views.csv("phases"):
            if row["PID"] == str(self.process["pid"]):
                self.number(f"{what} {row['Phase']} share", "CSV", row["Share"])
                self.number(f"{what} {row['Phase']} mean", "CSV", row.get("Mean"))
        summary = self.training["tracks"][track]["summary"]
        for phase, mean in zip(self.training["tracks"][track]["phases"], summary["phase_mean_ns"]):
            self.number(f"{what} {phase['label']} mean", "page", mean)
            self.number(f"{what} {phase['label']} share", "page", 100 * mean / summary["mean_ns"])
        for name, mean, share in views.snippet_table("Phase"):
            name = name.replace("\\", "")
            if name != "**step** (mean)":
                self.text(f"{what} {name} share", "snippet", share)
                self.text(f"{what} {name} mean", "snippet", mean)

    # --- GPU ------------------------------------------------------------------------------------

    def gpu(self):
        views = self.views
        if not self.process:
            return
        devices = [device for device in views.json.get("gpu", {}).get("devices", [])
                   if device.get("pid") in (None, self.process["pid"]) and device["window"]["count"]]
        if not devices:
            return
        name = f"GPU {devices[0]['device']}"
        words = " ".join(views.text.split())
        if f"{name} " in words and " works " in words:
            self.text("busy", "terminal", words.split(" works ")[1].split("%")[0] + "%")
        self.number("busy", "JSON", devices[0]["busy_share"] * 100)
        self.number("busy", "CSV", views.figure(f"{name} busy"))
        track = next((track for track in self.training["tracks"] if track["track"] == name), None)
        self.text("GPU of the main process", "page", "0 %" if track else "1 %")
        self.number("GPU of the main process", "JSON", 0)
        if not track:
            return
        for fact in track["facts"]:
            if fact["label"] == f"{name} busy":
                self.text("busy", "page", fact["value"])
        for metric in views.page["gpu"]["utilization"][0]["metrics"]:
            if metric["key"] == "busy":
                self.text("busy", "page, GPU", metric["value"])
        for row in views.table("A step on the GPU"):
            for head, cell in row.items():
                if row[""] != "step" and head.startswith("mean "):
                    self.text(f"GPU {row['']} mean", "terminal", f"{cell} {head.split()[1]}")
                if row[""] != "step" and cell.endswith("%"):
                    self.text(f"GPU {row['']} share", "terminal", cell)
        labels = {phase["key"]: phase["label"] for phase in track["phases"]}
        for key, part in devices[0]["parts"].items():
            if key in labels:
                self.number(f"GPU {labels[key]} share", "JSON", part["share"] * 100)
                self.number(f"GPU {labels[key]} mean", "JSON", part["mean_ns"])
        for row in views.csv("gpu_parts"):
            if (row["PID"], row["Device"]) == (str(self.process["pid"]), str(devices[0]["device"])):
                self.number(f"GPU {row['Part']} share", "CSV", row["Share"])
                self.number(f"GPU {row['Part']} mean", "CSV", row.get("Mean"))
        summary = track["summary"]
        for phase, mean in zip(track["phases"], summary["phase_mean_ns"]):
            self.number(f"GPU {phase['label']} mean", "page", mean)
            self.number(f"GPU {phase['label']} share", "page", 100 * mean / summary["mean_ns"])
        ranks = [row for row in views.csv("ranks") if row["PID"] == str(self.process["pid"])]
        if ranks and "communication" in labels.values():
            self.number("GPU communication mean", "CSV of ranks", ranks[0]["Communication"])
            self.number("GPU communication mean", "CSV of figures",
                        views.figure(f"{name} communication"))

    def kernels(self):
        """The share of the first kernels; the page's tree has them too."""
        views = self.views
        rows = sorted(views.csv("kernels"), key=lambda row: -float(row["Share"] or 0))
        terminal = views.table("Top kernels")
        top = views.top("kernels")
        tree = self.kernels_of_tree()
        for i, row in enumerate(rows[:3]):
            name = f"kernel {row['Kernel'][:60]} share"
            if float(row["Share"]) == 0:
                continue
            self.number(name, "CSV", row["Share"])
            if i < len(terminal):
                cell = next(cell for cell in reversed(terminal[i].values()) if cell.endswith("%"))
                self.text(name, "terminal", cell)
            if top:
                self.number(name, "page", next(
                    (100 * entry["share"] for entry in top["rows"] if entry["name"] == row["Kernel"]),
                    None))
                self.text(name, "snippet", views.snippet_table("Kernels")[i][-1])
            json_row = next((entry for entry in views.json["gpu"]["kernels"]
                             if entry["name"] == row["Kernel"]), {})
            if "share" in json_row:
                self.number(name, "JSON", 100 * json_row["share"])
            if row["Kernel"] in tree:
                self.number(name, "page, tree", tree[row["Kernel"]])
        if rows and views.figure("top kernel"):
            self.number(f"kernel {rows[0]['Kernel'][:60]} share", "CSV of figures",
                        views.figure("top kernel"))

    def kernels_of_tree(self):
        """{kernel: % of the GPU time in the page's tree, over the bins that count}."""
        tree = self.views.page["tree"]
        if not tree or not tree["per_step"]:
            return {}
        counts = tree["bins"]["counts"]
        bins = [i for i, count in enumerate(counts) if count] or range(len(counts))
        sums, whole = collections.Counter(), 0
        for node, kind in enumerate(tree["kind"]):
            times = tree["self_ns"][node]
            if not tree["kinds"][kind]["work"] or times == 0:
                continue
            time = sum(times[i] for i in bins)
            sums[self.views.page["strings"][tree["name"][node]]] += time
            whole += time
        return {name: 100 * time / whole for name, time in sums.items() if whole}

    # --- operators, modules -----------------------------------------------------------------------

    def lists(self):
        views = self.views
        if not self.process:
            return
        for key, title, json_key, share in (("operators", "Top operators", "name", "share_of_step"),
                                            ("modules", "Top modules", "path", "own_share_of_step")):
            column = "Share of Step" if key == "operators" else "Own Share of Step"
            names = "Operator" if key == "operators" else "Module"
            for row in views.table(title):
                cell = next(cell for cell in reversed(row.values()) if cell.endswith("%"))
                if "…" not in row[""]:
                    self.text(f"{key} {row['']} share", "terminal", cell)
            for entry in (views.top(key) or {"rows": []})["rows"]:
                self.number(f"{key} {entry['name']} share", "page", 100 * entry["share"])
            for entry in views.json[key]:
                if share in entry and self.once(views.json[key], json_key, entry[json_key]):
                    self.number(f"{key} {entry[json_key]} share", "JSON", 100 * entry[share])
            for row in views.csv(key):
                if column in row and self.once(views.csv(key), names, row[names]):
                    self.number(f"{key} {row[names]} share", "CSV", row[column])

    @staticmethod
    def once(rows, key, name):
        return sum(row[key] == name for row in rows) == 1


class NumbersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        paths = sorted((TESTS / "recordings").glob("*.batchlight"))
        paths += [TESTS / "kineto" / f"{name}.json" for name in ("training", "autograd_array")]
        for packed in [NSYS / "train5.sqlite.xz", *sorted((NSYS / "captures").glob("*.sqlite.xz"))]:
            plain = cls.folder / packed.stem
            plain.write_bytes(lzma.decompress(packed.read_bytes()))
            paths.append(plain)
        cls.views = {path.stem: Views(path, cls.folder / f"{path.stem}_report") for path in paths}

    def test_a_figure_has_the_same_digits_in_all_views(self):
        names = set()
        for run_name, views in self.views.items():
            with self.subTest(run_name):
                figures = Collector(views).all()
                problems = [line for figure in figures.values() for line in figure.problems()]
                self.assertEqual(problems, [])
                for name, figure in figures.items():
                    if len(figure.texts) + len(figure.numbers) > 1:
                        names.add(name.split(" (")[0])
        for name in ("rate", "mean step", "busy", "phase forward share", "phase forward mean",
                     "GPU communication mean"):
            self.assertIn(name, names)
        self.assertTrue(any(name.startswith("kernel ") for name in names))
        self.assertTrue(any(name.startswith("operators ") for name in names))
        self.assertTrue(any(name.startswith("modules ") for name in names))

    def test_every_view_gives_the_figures_that_head_it(self):
        for run_name in ("h200_train", "h200_two_ranks", "h200_tuned_gpt2"):
            figures = Collector(self.views[run_name]).all()
            for name, expected in (("rate", {"terminal", "page", "snippet", "JSON", "CSV"}),
                                   ("mean step", {"terminal", "page", "snippet", "JSON", "CSV"}),
                                   ("busy", {"terminal", "page", "page, GPU", "JSON", "CSV"}),
                                   ("phase forward share",
                                    {"terminal", "page", "snippet", "JSON", "CSV"})):
                figure = figures[name]
                self.assertEqual({*figure.texts, *figure.numbers}, expected, (run_name, name))

    def test_no_table_of_parts_exceeds_its_whole(self):
        for run_name, views in self.views.items():
            with self.subTest(run_name):
                for table, column in (("operators", "Share of Step"), ("modules", "Own Share of Step"),
                                      ("kernels", "Share")):
                    self.assertLessEqual(sum(float(row[column] or 0) for row in views.csv(table)),
                                         MOST_PERCENT, table)
                for column in ("CPU Share", "GPU Share"):
                    roots = [row for row in views.csv("attribution") if row["Level"] == "0"]
                    self.assertLessEqual(sum(float(row[column] or 0) for row in roots), MOST_PERCENT,
                                         column)
                shares = collections.Counter()
                for row in views.csv("phases"):
                    shares[row["Rank"], row["PID"]] += float(row["Share"])
                for share in shares.values():
                    self.assertAlmostEqual(share, 100, delta=0.1)

    def test_a_figure_of_several_ranks_says_whose_it_is(self):
        for run_name, views in self.views.items():
            count = len(views.json["steps"]["processes"])
            headings = [line for line in views.text.splitlines()
                        if line and line[0] not in " !" and not line.startswith("batchlight")]
            for heading in headings:
                if heading.startswith(("Processes", "Files", "Next", "Notes")):
                    continue
                if heading.startswith("NVTX ranges") and count == 0:  # of all processes, or the one
                    continue
                named = any(f", {word}" in heading for word in
                            ("rank ", "pid ", "mean of ", "all ranks", "all processes"))
                self.assertEqual(named, count > 1, (run_name, heading))
            if count > 1 and "Steps, rank 0" in views.text:
                self.assertEqual({row["Rank"] for row in views.csv("advice")}, {"0"})
            self.assertEqual(all(training["whose"] for training in views.page["training"]),
                             count > 1 or not views.page["training"])
            for top in views.page["tops"]:
                self.assertEqual(top["whose"].startswith("mean of "), count > 1)
            lives = [life["process"] for life in views.page["lives"]]
            whose = "ranks" if lives[:1] == ["rank 0"] else "processes"
            self.assertEqual(lives[count:], ["mean of %d %s" % (count, whose)] if count > 1 else [])
            self.assertEqual(f"mean of {count} {whose}: " in views.text, count > 1)

    def test_rows_of_a_list_can_be_told_apart(self):
        for run_name, views in self.views.items():
            for title in ("Top kernels", "Lines of Python", "Top operators", "Top modules"):
                names = [row[""] for row in views.table(title)]
                self.assertEqual(len(names), len(set(names)), (run_name, title, names))
            kernels = views.top("kernels")
            names = [row.get("label") or row["name"] for row in kernels["rows"]] if kernels else []
            self.assertEqual(len(names), len(set(names)), (run_name, names))


if __name__ == "__main__":
    unittest.main()
