"""Configuration is read from files, environment and overrides, and every mistake names its source and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from stateward.config import ModelConfig, load, load_policy, load_system
from stateward.errors import ConfigError
from stateward.govern.policy import Fuses


class Desk(BaseModel):
    """A small configuration."""

    model_config = ConfigDict(extra="forbid", strict=True)

    inbox: str
    workers: int = 1
    models: dict[str, ModelConfig] = {}


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A configuration file."""
    text = "inbox: data/inbox.jsonl\nworkers: 2\nmodels: {planner: {provider: openai, model: small}}\n"
    return write(tmp_path, "desk.yaml", text)


def test_a_file_fills_the_schema(desk: Path) -> None:
    """Nested tables become nested models."""
    config = load(Desk, desk, env={})
    assert (config.inbox, config.workers) == ("data/inbox.jsonl", 2)
    assert config.models["planner"] == ModelConfig(provider="openai", model="small")


def test_later_files_lie_over_earlier_ones(desk: Path, tmp_path: Path) -> None:
    """A second file changes what it names and keeps the rest."""
    local = write(tmp_path, "local.yaml", "models: {planner: {temperature: 0.5}}\n")
    planner = load(Desk, desk, local, env={}).models["planner"]
    assert (planner.model, planner.temperature) == ("small", 0.5)


def test_overrides_win_over_the_environment_and_both_over_files(desk: Path) -> None:
    """The nearer to the person at the keyboard, the stronger."""
    env = {"STATEWARD_CONFIG__WORKERS": "3", "STATEWARD_CONFIG__INBOX": "env.jsonl", "OTHER__WORKERS": "9"}
    config = load(Desk, desk, env=env, overrides=["config.workers=4"])
    assert (config.workers, config.inbox) == (4, "env.jsonl")


def test_values_may_name_other_values(tmp_path: Path) -> None:
    """Interpolation works across files and in overrides."""
    one = write(tmp_path, "one.yaml", "inbox: a-${workers}\nworkers: 5\n")
    assert load(Desk, one, env={}, overrides=["workers=6"]).inbox == "a-6"


def test_without_a_file_overrides_are_enough() -> None:
    """A small program needs no file."""
    assert load(Desk, env={}, overrides=["inbox=x"]).inbox == "x"


def test_the_prefix_separates_configurations(desk: Path) -> None:
    """Variables of another prefix do not reach this schema."""
    assert load(Desk, desk, env={"STATEWARD_POLICY__WORKERS": "9"}).workers == 2


WRONG: list[tuple[str, dict[str, str], list[str], str, str]] = [
    ("inbx: x", {}, [], "one.yaml", "inbx"),
    ("inbox: x\nworkers: many", {}, [], "one.yaml", "workers"),
    ("inbox: x\nworker: 1", {}, [], "one.yaml", "worker"),
    ("workers: 1", {}, [], "one.yaml", "inbox"),
    ("inbox: x", {"STATEWARD_CONFIG__WORKERS": "x"}, [], "STATEWARD_CONFIG__WORKERS", "workers"),
    ("inbox: x", {"STATEWARD_CONFIG__NO__SUCH": "1"}, [], "STATEWARD_CONFIG__NO__SUCH", "no"),
    ("inbox: x", {}, ["config.workers=1.5"], "config.workers=1.5", "workers"),
    ("inbox: x", {}, ["workers"], "workers", "workers"),
    ("inbox: x", {}, ["workers=[1"], "workers=[1", "workers"),
    ("inbox: ${nothing}", {}, [], "one.yaml", "inbox"),
    ("inbox: ???", {}, [], "one.yaml", "inbox"),
    ("inbox: x\nmodels: {p: {provider: other}}", {}, [], "one.yaml", "models.p.provider"),
    (
        "inbox: x\nmodels: {p: {provider: openai, temperature: 3}}",
        {},
        [],
        "one.yaml",
        "models.p.temperature",
    ),
    ("inbox: x\ninbox: y", {}, [], "one.yaml", "line 2"),
    ("- a list", {}, [], "one.yaml", "the whole"),
    ("a: [", {}, [], "one.yaml", "line 2"),
]


@pytest.mark.parametrize(("text", "env", "overrides", "source", "key"), WRONG)
def test_a_mistake_names_its_source_and_key(
    tmp_path: Path, text: str, env: dict[str, str], overrides: list[str], source: str, key: str
) -> None:
    """Whoever made the mistake is told where: file, variable or override, and the key in it."""
    file = write(tmp_path, "one.yaml", text)
    with pytest.raises(ConfigError) as refused:
        load(Desk, file, env=env, overrides=overrides)
    assert (Path(refused.value.file).name, refused.value.key) == (source, key)


def test_a_missing_file_is_a_mistake(tmp_path: Path) -> None:
    """A file that cannot be read is never taken as empty; the error lists what is in its folder."""
    with pytest.raises(ConfigError, match="a YAML file there, but there is none"):
        load(Desk, tmp_path / "none.yaml", env={})
    write(tmp_path, "some.yaml", "")
    with pytest.raises(ConfigError, match=r"is 'none\.yaml', expected one of the files there: some\.yaml") as refused:
        load(Desk, tmp_path / "none.yaml", env={})
    assert (refused.value.file, refused.value.key) == (str(tmp_path), "file")


@pytest.mark.parametrize("content", [b"inbox: \xff", b"3", b"a: ${b"])
def test_a_file_that_is_no_yaml_is_a_mistake_at_a_place(tmp_path: Path, content: bytes) -> None:
    """No message has an empty key or advises to remove it."""
    file = tmp_path / "one.yaml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        load(Desk, file, env={})
    assert refused.value.file == str(file)
    assert refused.value.key
    assert "remove the key" not in str(refused.value)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """What the system says about a path is what was given."""
    with pytest.raises(ConfigError, match=r"`the whole` in `.*` is 'Is a directory', expected a YAML file to read"):
        load(Desk, tmp_path, env={})


MISSPELT = ["STATEWARD_POLCY__FUSES__USD", "STATEWARD__FUSES", "stateward_polcy__X", "STATEWARD_POLICY_FUSES__USD"]


@pytest.mark.parametrize("name", MISSPELT)
def test_a_variable_of_an_unknown_section_is_a_mistake(desk: Path, folder: Path, name: str) -> None:
    """Nobody would read it, so a limit written there would not hold."""
    for read in (lambda env: load(Desk, desk, env=env), lambda env: load_policy("desk", folder=folder, env=env)):
        with pytest.raises(ConfigError, match="expected one of CONFIG, POLICY") as refused:
            read({name: "0.2"})
        assert (refused.value.file, refused.value.key) == (name, "section")


def test_other_variables_are_left_alone(desk: Path) -> None:
    """Plain variables of Stateward, those of others, and the section of this very schema are no mistakes."""
    env = {"STATEWARD_DB": "x", "STATEWARD_DEBUG": "1", "OTHER_POLCY__X": "1", "STATEWARD_DESK__WORKERS": "5"}
    assert load(Desk, desk, env=env, prefix="desk").workers == 5


def test_the_section_of_a_variable_has_no_case(folder: Path) -> None:
    """A variable in small letters is read, not passed over."""
    assert load_policy("desk", folder=folder, env={"stateward_policy__fuses__usd": "0.2"}).fuses.usd == 0.2


def test_a_model_has_one_address() -> None:
    """A base URL is written or taken from the environment, not both."""
    with pytest.raises(ValueError, match="not both"):
        ModelConfig(provider="openai", base_url="http://x", base_url_env="URL")


POLICY = """
version: 1
fuses: {turns: 12, usd: 0.5}
tools: {rules: [{match: "a.*", level: restricted}]}
contracts: {Ticket: {fields: {id: {type: str}}}}
modes:
  lenient: {fuses: {turns: 20}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one policy, which has a mode."""
    return write(tmp_path, "policies/desk.yaml", POLICY).parent


def test_a_policy_is_found_by_name_upwards(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name means `policies/<name>.yaml` in the working directory or the nearest one above."""
    below = folder.parent / "deep" / "down"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert load_policy("desk", env={}) == load_policy(folder / "desk.yaml", env={})


def test_a_policy_is_named_after_its_file(folder: Path) -> None:
    """Name and source come from the file, without the folders of a machine."""
    policy = load_policy("desk", folder=folder, env={})
    assert (policy.name, policy.source) == ("desk", "policies/desk.yaml")


def test_environment_and_overrides_win_over_the_mode(folder: Path) -> None:
    """The file is the base, then its mode, the environment, the overrides."""
    env = {"STATEWARD_POLICY__FUSES__USD": "0.2", "STATEWARD_POLICY__MODE": "lenient"}
    assert load_policy("desk", folder=folder, env=env).fuses == Fuses(turns=20, usd=0.2)
    overrides = ["policy.fuses.turns=3"]
    assert load_policy("desk", folder=folder, env=env, overrides=overrides).fuses.turns == 3


def test_variables_reach_keys_with_capital_letters(folder: Path) -> None:
    """A variable's name has no case, so it takes the spelling that the file has."""
    env = {"STATEWARD_POLICY__CONTRACTS__TICKET__RETRIES": "1"}
    assert load_policy("desk", folder=folder, env=env).contracts[0].retries == 1


def test_an_override_reaches_into_a_list(folder: Path) -> None:
    """A rule is named by its place."""
    policy = load_policy("desk", folder=folder, env={}, overrides=["policy.tools.rules[0].level=forbidden"])
    assert policy.tools is not None
    assert policy.tools.rules[0].level == "forbidden"


def test_the_environment_changes_the_hash(folder: Path) -> None:
    """A run pinned under one environment does not pass for one under another."""
    env = {"STATEWARD_POLICY__FUSES__USD": "0.2"}
    assert load_policy("desk", folder=folder, env=env).hash != load_policy("desk", folder=folder, env={}).hash


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("policy.fuses.turn=3", "fuses.turn"),
        ("policy.fuses.usd=-1", "fuses.usd"),
        ("policy.mode=loose", "mode"),
        ("policy.tools.rules[7].level=allowed", "tools.rules[7].level"),
    ],
)
def test_a_wrong_override_of_a_policy_is_refused(folder: Path, override: str, key: str) -> None:
    """The error names the override and the key."""
    with pytest.raises(ConfigError) as refused:
        load_policy("desk", folder=folder, env={}, overrides=[override])
    assert (refused.value.file, refused.value.key) == (override, key)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("version: 1\nmodes: {lenient: {fuses: {turns: many}}}", "modes.lenient.fuses.turns"),
        ("version: 1\nmodes: {lenient: {fuse: {}}}", "modes.lenient.fuse"),
        ("version: 1\nmodes: {lenient: {mode: x}}", "modes.lenient.mode"),
        ("version: 1\nmodes: {lenient: 3}", "modes.lenient"),
        ("version: 1\nmodes: [lenient]", "modes"),
        ("fuses: {turns: 1}", "version"),
        ("version: 1\nmode: lenient", "mode"),
    ],
)
def test_a_mode_that_is_not_used_must_be_right_too(tmp_path: Path, text: str, key: str) -> None:
    """A mistake in a mode is found when the file is read, not when the mode is wanted."""
    file = write(tmp_path, "policies/bad.yaml", text)
    with pytest.raises(ConfigError) as refused:
        load_policy(file, env={})
    assert (refused.value.file, refused.value.key) == (str(file), key)


def test_a_policy_that_is_not_there_is_a_mistake(folder: Path) -> None:
    """A missing policy is never taken as an empty one; the error lists the policies there."""
    with pytest.raises(ConfigError, match=r"is 'other', expected one of the files there: desk\.yaml") as refused:
        load_policy("other", folder=folder, env={})
    assert (refused.value.file, refused.value.key) == (str(folder), "policy")
    assert str(refused.value).endswith(f"Correct the name, or write `{folder / 'other.yaml'}`.")


def test_a_policy_searched_upwards_names_the_folders(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder, those that were searched are named."""
    monkeypatch.chdir(folder)
    with pytest.raises(ConfigError, match=r"expected one of the files there: desk\.yaml") as refused:
        load_policy("other", env={})
    assert str(folder) in refused.value.file


def test_a_folder_of_policies_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    """The folder is named, and that it is missing."""
    with pytest.raises(ConfigError, match="expected that folder, but there is none"):
        load_policy("desk", folder=tmp_path / "none", env={})


def test_a_system_is_its_configuration_and_its_policy(desk: Path, tmp_path: Path) -> None:
    """Each override and variable goes to its own; one that speaks of neither is refused."""
    rules = write(tmp_path, "rules.yaml", "version: 1\nname: rules\nfuses: {turns: 5}\n")
    env = {"STATEWARD_POLICY__FUSES__CALLS": "3"}
    config, policy = load_system(Desk, desk, rules, env=env, overrides=("config.workers=4", "policy.fuses.turns=2"))
    assert (config.workers, policy.fuses.turns, policy.fuses.calls) == (4, 2, 3)
    with pytest.raises(ConfigError, match=r"`config\.…` or `policy\.…`"):
        load_system(Desk, desk, rules, env={}, overrides=("workers=4",))
