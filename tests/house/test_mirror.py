"""`tests/` has the shape of the source, so that one knows where a thing is tested."""

from __future__ import annotations

import ast

from tests.house.source import PACKAGE, ROOT, Module, functions, modules, report

FEW_LINES = 40
"""Smaller files are tested through those that use them."""

INNER = {
    "ask": "run/people/test_question",
    "chart/alphabet": "chart/test_explore",
    "chart/coarse": "chart/test_explore",
    "chart/configuration": "chart/test_step",
    "chart/signature": "test_typing",
    "chart/definition": "chart/test_compiler",
    "chart/entry": "chart/test_step",
    "chart/finding": "chart/test_check",
    "chart/graph": "chart/test_explore",
    "chart/macrostep": "chart/test_step",
    "chart/microstep": "chart/test_explore",
    "chart/oracle": "chart/test_explore",
    "chart/proof": "chart/test_property",
    "chart/race": "chart/test_check",
    "chart/scope": "chart/test_compiler",
    "chart/selection": "chart/test_step",
    "chart/standing": "chart/test_explore",
    "chart/state": "chart/test_compiler",
    "chart/tables": "chart/test_compiler",
    "chart/trace": "chart/test_step",
    "chart/transition": "chart/test_compiler",
    "chart/unfired": "chart/test_check",
    "exchange/content": "exchange/test_scxml_content",
    "exchange/scxml_ids": "exchange/test_scxml_reader",
    "exchange/scxml_shape": "exchange/test_scxml_reader",
    "exchange/tag": "exchange/test_element",
    "exchange/written": "exchange/test_scxml_writer",
    "exchange/xstate_content": "exchange/test_xstate_reader",
    "exchange/xstate_reactions": "exchange/test_xstate_reader",
    "exchange/xstate_target": "exchange/test_xstate_reader",
    "exchange/xstate_tree": "exchange/test_xstate_reader",
    "exchange/xstate_words": "exchange/test_xstate_reader",
    "govern/checks/approval": "govern/test_decision",
    "govern/field_diff": "govern/test_contract_diff",
    "govern/ground": "govern/test_check",
    "govern/kinds/fuses": "govern/test_policy_shape",
    "govern/kinds/shape": "govern/test_policy_shape",
    "govern/kinds/window": "govern/kinds/test_section",
    "govern/layer": "govern/test_effective",
    "govern/problem": "govern/test_policy_file",
    "govern/request": "govern/test_decision",
    "govern/verdict": "govern/test_decision",
    "model_config": "test_models",
    "run/called": "run/test_graph",
    "run/difference": "run/test_travel",
    "run/hub/questions": "run/hub/test_regions",
    "run/context_record": "run/replay/test_contexts",
    "events": "run/events/test_form",
    "run/events/event": "run/events/test_form",
    "run/migration_found": "run/test_migration_nodes",
    "run/migration_plan": "run/test_migration_adopt",
    "run/migration_standing": "test_migration",
    "run/migration_write": "run/test_migration_adopt",
    "run/pinned_policy": "run/test_migration_keep",
    "run/store/definitions": "run/test_migration_keep",
    "run/visit": "run/test_activity",
    "run/store/watch": "run/store/test_mailbox",
    "run/moment": "run/test_travel",
    "run/door/performing": "run/door/test_process",
    "run/door/playing": "run/replay/test_play",
    "run/door/said": "run/door/test_model_replay",
    "run/door/script": "run/replay/test_play",
    "run/door/trying": "run/door/test_attempts",
    "run/door/worker": "run/door/test_process",
    "run/replay/decisions": "run/replay/test_play",
    "run/replay/divergence": "run/replay/test_play",
    "run/replay/node": "run/replay/test_play",
    "run/replay/recording": "run/replay/test_record",
    "run/replay/score": "run/replay/test_play",
    "run/replay/stage": "run/replay/test_play",
    "run/structured/instructed": "run/structured/test_structured",
    "run/structured/record": "run/structured/test_structured",
    "run/structured/result": "run/structured/test_structured",
    "run/structured/tiers": "run/structured/test_structured",
    "run/store/ask": "run/store/test_asks",
    "run/store/connection": "run/store/test_database",
    "run/store/entry": "run/store/test_journal",
    "run/store/given": "run/store/test_asks",
    "run/store/kind": "run/store/test_fitted",
    "run/store/holder": "run/store/test_lease",
    "run/store/ask_audit": "run/store/test_asks",
    "run/store/backend": "run/store/test_database",
    "run/store/cursor": "run/store/test_database",
    "run/store/listing": "run/store/test_sqlite_step",
    "run/store/postgres_setup": "run/store/test_postgres",
    "run/store/postgres_store": "run/store/test_postgres",
    "run/store/session_row": "run/store/test_sessions",
    "run/store/sqlite_setup": "run/store/test_database",
    "run/store/schema": "run/store/test_database",
    "governor": "run/governor/test_governor",
    "run/governor/observation": "run/governor/test_governor",
    "run/governor/place": "run/governor/test_in_chart",
    "run/governor/standing": "run/governor/test_governor",
    "run/governor/tool_call": "run/governor/test_governor",
    "run/governor/question": "run/governor/test_limits",
    "teams/conversation": "teams/test_loop",
    "teams/final_answer": "teams/test_loop",
    "teams/handoff": "teams/test_swarm",
    "teams/mind": "teams/test_agent",
}
"""Parts that one other file of their folder was split into, and the test of that file, which is theirs.

chart: `step` is the way into `macrostep`, `selection`, `entry`, `data` and `trace`; `compiler` turns `state`
and `transition` into `definition`, with `scope` and `tables`; `explore` asks the `alphabet` what can happen, takes a
`microstep` from a `standing` under an `oracle`, and makes a `graph` or a `coarse` one; `check` reports `finding`s,
those of `unfired` and `race` among them; a `property` has its `proof`. govern: `check` stands on a `ground`; a `layer`
is what `effective` folds, a `problem` is what `policy_file` reports; a `request` goes into a `decision`, a `verdict`
comes out; `kinds/shape` has the words of the shapes. run: an `ask` is a row of `asks`, an `entry` one of the
`journal`, a `holder` of a `lease`; a `database` is opened with `connection` and `schema`.
"""

SOURCES = [module for module in modules(PACKAGE) if module.path.name != "__init__.py"]
TESTS = [module for module in modules("tests") if module.path.name.startswith("test_")]


def test_every_file_of_the_source_has_its_test() -> None:
    """`stateward/x/y.py` is tested in `tests/x/test_y.py`."""
    missing = [f"{module.place}: no {test}" for module in SOURCES if not is_small(module) and (test := lacked(module))]
    assert not missing, report(missing)


def test_no_inner_part_has_outgrown_the_list() -> None:
    """What is listed as inner exists, and has no test of its own."""
    kept = {f"{PACKAGE}/{part}.py" for part in INNER} - {module.place for module in SOURCES}
    owned = [part for part in INNER if (ROOT / own_test(part)).is_file()]
    assert (kept, owned) == (set(), [])


def test_a_test_says_in_a_sentence_what_holds() -> None:
    """Every test has a docstring; its name is the claim."""
    silent = [
        f"{module.place}: {function.name}"
        for module in TESTS
        for function in functions(module)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert not silent, report(silent)


def test_no_folder_of_tests_is_a_package() -> None:
    """Pytest imports test files by their path, so that two may have the same name."""
    assert [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("__init__.py")] == []


def is_small(module: Module) -> bool:
    return module.text.count("\n") <= FEW_LINES


def lacked(module: Module) -> str:
    """Return the test that a file should have and has not, or nothing."""
    part = module.place.removeprefix(f"{PACKAGE}/").removesuffix(".py")
    test = f"tests/{INNER[part]}.py" if part in INNER else own_test(part)
    return "" if (ROOT / test).is_file() else test


def own_test(part: str) -> str:
    folder, _, name = f"tests/{part}".rpartition("/")
    return f"{folder}/test_{name}.py"
