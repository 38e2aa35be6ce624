import pytest

from benchmarks import __main__ as bench


@pytest.fixture
def results(tmp_path, monkeypatch):
    runs = {"first": 0, "second": 0}

    def part(name):
        def table():
            runs[name] += 1
            return [f"## {name}", "", f"| run {runs[name]} |"]

        return table

    monkeypatch.setattr(bench, "RESULTS", tmp_path / "RESULTS.md")
    monkeypatch.setattr(bench, "PARTS", {name: part(name) for name in runs})
    return tmp_path / "RESULTS.md"


def test_every_section_says_where_it_ran(results, capsys):
    bench.main([])
    text = results.read_text()
    assert text.index("## first") < text.index("| run 1 |") < text.index("## second")
    assert text.count("load average") == 2
    assert "## second" in capsys.readouterr().out


def test_one_part_leaves_the_others_as_they_are(results):
    bench.main([])
    bench.main(["second"])
    text = results.read_text()
    assert [line for line in text.splitlines() if line.startswith(("##", "| run"))] == [
        "## first", "| run 1 |", "## second", "| run 2 |",
    ]  # fmt: skip


def test_an_unknown_part_is_named(results):
    with pytest.raises(SystemExit, match="no benchmark is called 'third'; there are first, second"):
        bench.main(["third"])
