"""`stateward migrate`."""

from __future__ import annotations

import pytest

from stateward.cli.loading import load_around

GRAPH = ("--graph", "toy_room:graph")
NEW = (*GRAPH, "--set", "state=READY", "--set", "key=visitor")
NAMES = ("--state", "OPEN=READY", "--key", "guest=visitor")


def begin(shell, *names: str) -> None:
    """Start sessions that wait under the old definition."""
    for name in names:
        result = shell.run("run", "toy_room:graph", '{"guest": "ann"}', "--session", name)
        assert result.exit_code == 0, result.stderr


def test_a_session_goes_on_under_the_new_definition(shell):
    """The report tells what it is called now; then it takes events there."""
    begin(shell, "r1")
    told = shell.json("migrate", "r1", *NEW, *NAMES, "--by", "ann")["sessions"][0]
    assert (told["result"], told["before"]["chart"] != told["after"]["chart"]) == ("migrated", True)
    assert [(line["part"], line["before"], line["after"]) for line in told["lines"]] == [
        ("state", "OPEN", "READY"), ("key", "guest", "visitor"),
    ]  # fmt: skip
    assert shell.json("resume", "r1", "end", *NEW)["values"]["visitor"] == "ann"


def test_a_dry_run_tells_the_same_and_changes_nothing(shell):
    """The session is under its old definition still."""
    begin(shell, "r1")
    before = shell.json("sessions")
    told = shell.json("migrate", "r1", *NEW, *NAMES, "--dry-run")
    assert (told["dry_run"], told["sessions"][0]["result"]) == (True, "ready")
    assert shell.json("sessions") == before
    assert shell.run("resume", "r1", "end", *GRAPH).exit_code == 0


def test_what_is_not_declared_blocks_with_exit_code_one(shell):
    """The table names every part at once."""
    begin(shell, "r1")
    result = shell.run("migrate", "r1", *NEW)
    assert (result.exit_code, "blocked" in result.stdout) == (1, True)
    assert ("OPEN" in result.stdout, "guest" in result.stdout) == (True, True)


def test_a_file_declares_it(shell):
    """What is empty there is gone; words of the command line come on top."""
    begin(shell, "r1")
    file = shell.folder / "renamed.yaml"
    file.write_text("states: {OPEN: NOWHERE}\nkeys: {guest: }\nvalues: {visitor: bob}\n")
    told = shell.json("migrate", "r1", *NEW, "--file", str(file), "--state", "OPEN=READY")
    assert told["sessions"][0]["result"] == "migrated"
    assert shell.json("resume", "r1", "end", *NEW)["values"] == {"visitor": "bob"}


def test_all_sessions_of_a_graph_are_migrated(shell):
    """One that has ended, and one that is under the new definition already, are left out."""
    begin(shell, "r1", "r2", "r3")
    shell.run("resume", "r3", "end", *GRAPH)
    shell.run("run", "toy_room:graph", '{"visitor": "bob"}', "--session", "r4", *NEW[2:])
    told = shell.json("migrate", "--all", *NEW, *NAMES)
    assert {one["session"]: one["result"] for one in told["sessions"]} == {"r1": "migrated", "r2": "migrated"}
    assert shell.json("migrate", "--all", *NEW, *NAMES)["sessions"] == []


def test_one_that_is_blocked_does_not_keep_the_others(shell, database):
    """It is told, and the exit code says so."""
    begin(shell, "r1", "r2")
    lease = database.leases.acquire("r1", graph="toy_room")
    told = shell.json("migrate", "--all", *NEW, *NAMES, code=1)
    database.leases.release(lease)
    assert {one["session"]: one["result"] for one in told["sessions"]} == {"r1": "blocked", "r2": "migrated"}


def test_the_text_says_what_there_is_not_to_do(shell):
    """A session that has ended is no error."""
    begin(shell, "r1")
    shell.run("resume", "r1", "end", *GRAPH)
    result = shell.run("migrate", "r1", *NEW, *NAMES)
    assert (result.exit_code, "The run is completed" in result.stderr) == (0, True)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("r1", "--all"),
        ("--all",),
        ("r1", "--state", "OPEN"),
        ("r1", "--value", "visitor=ann"),
        ("r1", "--key", "a=visitor", "--key", "b=visitor"),
        ("nobody",),
    ],
)
def test_what_is_not_understood_is_refused(shell, words):
    """Exit code 2, and nothing is changed."""
    begin(shell, "r1")
    before = shell.json("sessions")
    assert shell.run("migrate", *words, *(NEW if words[:1] != ("--all",) else ())).exit_code == 2
    assert shell.json("sessions") == before


@pytest.mark.parametrize("text", ["stats: {}", "states: [A]", "states: {A: 1}", "- a", "{", "withdraw: refund"])
def test_a_file_that_declares_something_else_is_refused(shell, text):
    """The message names the file and the key."""
    begin(shell, "r1")
    file = shell.folder / "wrong.yaml"
    file.write_text(text)
    result = shell.run("migrate", "r1", *NEW, "--file", str(file))
    assert (result.exit_code, "wrong.yaml" in result.stderr) == (2, True)


def test_help_teaches_with_examples(shell):
    """It shows how it is used."""
    assert "stateward migrate" in shell.run("migrate", "--help").stdout.partition("Examples:")[2]


AROUND = ("--graph", "toy_around:graph", "--set", "state=READY")


@pytest.fixture
def thread(shell, database):
    """A thread of a graph with a chart inside that waits under the old definition."""
    saver = database.saver
    load_around("toy_around:graph").copy({"checkpointer": saver}).invoke(
        {"guest": "ann"}, {"configurable": {"thread_id": "t1"}}
    )
    return "t1"


def test_a_chart_inside_a_graph_is_migrated_by_its_node(shell, thread):
    """First it is told, then done; the graph itself is LangGraph's."""
    (told,) = shell.json("migrate", thread, *AROUND, "--state", "OPEN=READY", "--dry-run")["sessions"]
    assert (told["node"], told["result"]) == ("room", "ready")
    shown = shell.run("migrate", thread, *AROUND, "--state", "OPEN=READY", "--by", "ann")
    assert ("t1, node room" in shown.stdout, "migrated" in shown.stdout.split()) == (True, True)
    assert shell.json("migrate", thread, *AROUND)["sessions"][0]["result"] == "nothing to do"


def test_a_chart_inside_that_is_blocked_is_told(shell, thread):
    """Exit code 1, and nothing is written."""
    result = shell.run("migrate", thread, *AROUND)
    assert (result.exit_code, "OPEN" in result.stdout) == (1, True)


def test_the_threads_of_a_graph_must_be_named(shell, thread):
    """Nobody lists them."""
    result = shell.run("migrate", "--all", *AROUND)
    assert (result.exit_code, "Name the SESSION" in result.stderr) == (2, True)
