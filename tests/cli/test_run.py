"""`stateward run`."""

from __future__ import annotations

import csv
import json

import pytest

REFUND = {"id": "m2", "text": "please refund 3"}
HELLO = {"id": "m1", "text": "hello"}
AGAIN = {"id": "m3", "text": "again", "follows": "m1"}


def test_a_job_gives_one_row_for_each_message_in_file_order(shell):
    """Follow-ups go to the session of the message they follow, and the totals are the job's."""
    told = shell.json("run", "toy_desk", "inbox.jsonl")
    assert [(row["id"], row["session"], row["status"]) for row in told["rows"]] == [
        ("m1", "case-m1", "completed"),
        ("m2", "case-m2", "waiting"),
        ("m3", "case-m1", "completed"),
        ("m4", "case-m4", "completed"),
    ]
    assert told["summary"] == {"messages": 4, "waiting": 1}
    assert told["bad_rows"] == []


def test_the_table_shows_text_from_outside_as_text(shell):
    """What looks like markup is printed as it is, and control codes are not printed."""
    file = shell.inbox({"id": "m1", "text": "[bold]hi[/bold] \x1b[31mred"})
    shown = shell.run("run", "toy_desk", file).stdout
    assert "[bold]hi[/bold]" in shown
    assert "\x1b" not in shown


def test_the_csv_file_has_the_same_rows(shell):
    """`--out` writes a header and a line for each message, lists joined."""
    out = shell.folder / "new" / "tickets.csv"
    shell.run("run", "toy_desk", "inbox.jsonl", "--out", str(out))
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert [row["id"] for row in rows] == ["m1", "m2", "m3", "m4"]
    assert rows[0]["done"] == "ok"


@pytest.mark.parametrize("out", [".", "inbox.jsonl/tickets.csv"])
def test_a_table_that_could_not_be_written_is_refused_before_anything_runs(shell, out):
    """Not after hours of work."""
    refused = shell.run("run", "toy_desk", "inbox.jsonl", "--out", out)
    assert (refused.exit_code, "cannot be written" in refused.stderr) == (2, True)
    assert shell.run("sessions").exit_code == 2  # there is no database yet


def test_a_bad_row_is_reported_with_its_line_and_the_rest_goes_on(shell):
    """The exit code says that something was wrong."""
    file = shell.inbox(HELLO, "{broken", {"id": "m5", "text": "bye"})
    result = shell.run("run", "toy_desk", file)
    assert result.exit_code == 1
    assert "line 2: not JSON" in result.stderr
    assert "m5" in result.stdout


def test_columns_can_be_mapped(shell):
    """`--map text=body` reads the text from the column `body`."""
    file = shell.inbox({"id": "m1", "body": "hello"})
    assert shell.json("run", "toy_desk", file, "--map", "text=body")["rows"][0]["text"] == "hello"


def test_a_mapping_of_an_unknown_name_is_refused(shell):
    """The message names what can be mapped."""
    result = shell.run("run", "toy_desk", "inbox.jsonl", "--map", "subject=body")
    assert result.exit_code == 2
    assert "expected one of id, text, follows" in result.stderr


def test_an_exception_in_one_session_is_a_failed_row(shell):
    """The others go on, and the exit code is 1."""
    file = shell.inbox({"id": "m1", "text": "boom"}, {"id": "m2", "text": "fine"})
    rows = shell.json("run", "toy_desk", file, code=1)["rows"]
    assert [row["status"] for row in rows] == ["failed", "completed"]
    assert rows[0]["error"] == "ValueError: boom [/red]"


def test_a_busy_session_is_a_failed_row(shell, database):
    """A session that another process holds does not stop the others."""
    lease = database.leases.acquire("case-m1", graph="toy_desk")
    rows = shell.json("run", "toy_desk", shell.inbox(HELLO, REFUND), code=1)["rows"]
    database.leases.release(lease)
    assert [row["status"] for row in rows] == ["failed", "waiting"]
    assert "is held by process" in rows[0]["error"]


def test_sessions_that_ended_or_wait_are_shown_and_not_run_again(shell):
    """A second run without --resume changes nothing, and says which message it did not deliver."""
    shell.run("run", "toy_desk", shell.inbox(HELLO, REFUND))
    rows = shell.json("run", "toy_desk", shell.inbox(HELLO, REFUND, AGAIN))["rows"]
    assert [row["status"] for row in rows] == ["completed", "waiting", "completed"]
    assert "use --resume" in rows[2]["note"]
    assert len(shell.json("history", "case-m1")["steps"]) == 4


def test_unfinished_sessions_stop_the_command_before_anything_runs(shell):
    """The message has the exact command that goes on."""
    shell.interrupt("case-m1")
    result = shell.run("run", "toy_desk", shell.inbox(HELLO, REFUND), "--concurrency", "2")
    assert result.exit_code == 2
    assert f"stateward run toy_desk {shell.folder}/inbox.jsonl --resume" in result.stderr
    assert [row["id"] for row in shell.json("sessions")] == ["case-m1"]


def test_what_becomes_of_another_policy_is_said_with_a_word(shell):
    """An unfinished run is refused under it, and goes on under its own."""
    shell.interrupt("case-m1")
    again = ("run", "toy_desk", shell.inbox({"id": "m1", "text": "hello"}), "policy.fuses.turns=3", "--resume")
    assert shell.run(*again).exit_code == 1
    assert shell.run(*again, "--drift", "keep").exit_code == 0
    assert shell.run(*again, "--drift", "adopt").exit_code == 2


def test_resume_finishes_the_unfinished_and_starts_the_new(shell):
    """What was delivered is not delivered again."""
    shell.interrupt("case-m1")
    rows = shell.json("run", "toy_desk", shell.inbox(HELLO, REFUND, AGAIN), "--resume")["rows"]
    assert [row["status"] for row in rows] == ["completed", "waiting", "completed"]
    with_events = [step["event"] for step in shell.json("history", "case-m1")["steps"]]
    assert with_events.count("start") == 2


def test_resume_goes_on_where_asks_were_answered(shell):
    """An answer recorded with --no-resume takes effect in the next run with --resume."""
    shell.run("run", "toy_desk", shell.inbox(REFUND))
    ask = shell.json("inbox")[0]["id"]
    shell.run("answer", ask, "approve", "--by", "ann", "--no-resume")
    assert shell.json("run", "toy_desk", shell.inbox(REFUND), "--resume")["rows"][0]["status"] == "completed"
    assert shell.effects("pay") == 1


def test_a_follow_up_to_a_waiting_session_stays_to_be_delivered(shell):
    """A chart that waits for a person takes no input; the row says so and nothing fails."""
    file = shell.inbox(REFUND, {"id": "m3", "text": "well?", "follows": "m2"})
    rows = shell.json("run", "toy_desk", file)["rows"]
    assert rows[1]["status"] == "waiting"
    assert "not delivered yet" in rows[1]["note"]
    shell.run("answer", shell.json("inbox")[0]["id"], "reject", "--by", "ann")
    assert [row["status"] for row in shell.json("run", "toy_desk", file, "--resume")["rows"]] == ["completed"] * 2


def test_overrides_reach_the_graph(shell):
    """A dotted override after the input changes the policy of this run."""
    file = shell.inbox(HELLO)
    assert shell.run("run", "toy_desk", file, "policy.fuses.turns=nine").exit_code == 2
    shell.run("run", "toy_desk", file, "policy.tools.default=restricted")
    hashes = [shell.json("policy", "toy_desk")["hashes"]["policy"], shell.json("sessions")[0]["hashes"]["policy"]]
    assert hashes[0] != hashes[1]


def test_a_graph_without_a_job_takes_json(shell):
    """Inline JSON or a file behind @ is the input of one session."""
    told = shell.json("run", "toy_wait", '{"question": "please"}', "--session", "q1")
    assert set(told) == {"session", "status", "state", "asks", "wakes_at", "reason", "error", "values"}
    assert (told["session"], told["status"], told["values"]["said"]) == ("q1", "completed", ["hi"])
    (shell.folder / "in.json").write_text(json.dumps({"question": "why?"}))
    assert shell.json("run", "toy_wait", f"@{shell.folder}/in.json")["state"] == "TALKING.REST"


def test_a_graph_without_a_job_takes_no_file(shell):
    """The message says what to give instead."""
    result = shell.run("run", "toy_wait", "inbox.jsonl")
    assert result.exit_code == 2
    assert "no job" in result.stderr


def test_inline_input_goes_to_one_session_of_a_graph_with_a_job(shell):
    """JSON in place of the file passes the job by; a failing activity is told and gives exit code 1."""
    told = shell.json("run", "toy_desk", '{"message": "m", "text": "boom"}', "--session", "one", code=1)
    assert (told["status"], told["error"]) == ("failed", "ValueError: boom [/red]")


def test_one_unfinished_session_needs_resume(shell):
    """Its input is refused, and with --resume the session goes on."""
    shell.interrupt("one")
    words = ("run", "toy_desk", '{"message": "m1", "text": "hello"}', "--session", "one")
    assert shell.run(*words).exit_code == 2
    assert shell.json(*words, "--resume")["status"] == "completed"


def test_broken_json_is_refused(shell):
    """What is no object of state keys never reaches the graph."""
    for given in ("{", "@/no/such/file.json", "{'a': 1}"):
        refused = shell.run("run", "toy_wait", given)
        assert (refused.exit_code, "fix:" in refused.stderr) == (2, True)


def test_rows_are_the_same_when_looked_at_again(shell):
    """A message's row tells the end of its own run, also after follow-ups in the same session."""
    first = shell.json("run", "toy_desk", shell.inbox(HELLO, AGAIN, REFUND))
    again = shell.json("run", "toy_desk", shell.inbox(HELLO, AGAIN, REFUND))
    assert [row["last"] for row in first["rows"]] == ["m1", "m3", "m2"]
    assert again == first


def test_what_does_not_fit_the_terminal_is_named(shell, monkeypatch):
    """A narrow table has the first columns, cut to one line, and says which are missing."""
    monkeypatch.setenv("COLUMNS", "60")
    shown = shell.run("run", "toy_desk", "inbox.jsonl").stdout
    assert "Not shown here: text, done, last" in shown
    assert max(len(line) for line in shown.splitlines()) <= 60


def test_an_input_that_comes_while_a_person_is_asked_is_told_so(shell):
    """What is awaited is the answer, and the message names the ask."""
    given = ('{"message": "m", "text": "please refund"}', "--session", "one")
    (ask,) = shell.json("run", "toy_desk", *given)["asks"]
    assert f"the answer to `{ask}`" in shell.run("run", "toy_desk", *given).stderr


def test_events_are_printed_as_json_lines(shell):
    """One a line, while they happen; the last one says where the session stands, and nothing else is printed."""
    result = shell.run("run", "toy_wait", '{"question": "please"}', "--session", "q1", "--events")
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    assert (told[-1]["kind"], told[-1]["status"], result.exit_code) == ("ended", "completed", 0)
    assert "state_entered" in {event["kind"] for event in told}


def test_events_of_a_failed_session_end_with_exit_code_1(shell):
    """The last event says how it failed."""
    result = shell.run("run", "toy_desk", '{"message": "m", "text": "boom"}', "--session", "one", "--events")
    assert (json.loads(result.stdout.splitlines()[-1])["status"], result.exit_code) == ("failed", 1)


def test_events_of_many_sessions_are_refused(shell):
    """A job runs many at once, and nobody could tell the lines apart."""
    result = shell.run("run", "toy_desk", "inbox.jsonl", "--events")
    assert result.exit_code == 2
    assert "one session" in result.stderr


@pytest.mark.parametrize(
    "words",
    [("inbox.jsonl", "--session", "one"), ('{"message": "m1"}', "--out", "t.csv"), ("{}", "--map", "text=body")],
)
def test_an_option_that_would_do_nothing_is_refused(shell, words):
    """Those of one session with a file of many, and the other way round."""
    refused = shell.run("run", "toy_desk", *words)
    assert (refused.exit_code, f"`{words[1]}` is for" in refused.stderr) == (2, True)


def test_what_is_no_input_is_told_with_the_keys_of_the_graph(shell):
    """The example is one that the graph takes."""
    told = shell.run("run", "toy_wait", "why?").stderr
    assert "'{\"question\": …}'" in told
    assert "Its keys: question, said." in told


def test_the_end_of_a_run_tells_the_keys_of_the_state(shell):
    """Nobody has to ask for JSON to see what came of it."""
    told = shell.run("run", "toy_wait", '{"question": "why, please"}', "--session", "q1")
    assert "question:  why, please" in told.stdout
    assert "stateward show q1" in told.stderr


def test_a_run_that_waits_tells_for_which_events(shell):
    """And how one is sent."""
    told = shell.run("run", "toy_wait", '{"question": "why"}', "--session", "q1").stderr
    assert "It waits for one of: ask, stop. `stateward resume q1 EVENT` sends it." in told
