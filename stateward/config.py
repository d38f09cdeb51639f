"""Configuration: YAML, then the environment, then overrides on the command line, checked by a schema.

This is the only module that knows OmegaConf, and how variables name keys. A key is set by the last source that names
it: files in their order, a policy's mode, `STATEWARD_<PREFIX>__A__B=value`, and `<prefix>.a.b=value`. What
comes out is checked by the schema, or it is a `ConfigError` that names the source, the key, what was expected
and what was given.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import BaseModel, ValidationError

from stateward.errors import ConfigError
from stateward.govern.policy import DEFAULT_MODE, Policy
from stateward.govern.policy_file import policy_from
from stateward.govern.policy_shape import PolicyContent
from stateward.govern.problem import Key, dotted, first, known_keys, problems
from stateward.model_config import ModelConfig as ModelConfig

Schema = TypeVar("Schema", bound=BaseModel)
_START = "STATEWARD_"
_SECTIONS = ("config", "policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """One value from the environment or from an override."""

    label: str
    key: Key
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """Where each part of merged data came from, later ones winning."""

    files: tuple[tuple[str, Key, object], ...]
    """Label, the key under which the data lies there, and the data."""
    edits: tuple[_Edit, ...] = field(default=())

    def locate(self, key: Key) -> tuple[str, Key]:
        """Find the source that gave a key its value."""
        for edit in reversed(self.edits):
            if _overlap(edit.key, key):
                return edit.label, key
        best = max(range(len(self.files)), key=lambda number: self._fit(number, key))
        label, prefix, _ = self.files[best]
        return label, (*prefix, *key)

    def _fit(self, number: int, key: Key) -> tuple[int, int]:
        depth = _depth(self.files[number][2], key)
        # The last file that has the whole key wins; a key that is missing belongs to the first.
        return depth, number if depth == len(key) else -number


def load(
    schema: type[Schema],
    *files: str | Path,
    env: Mapping[str, str] | None = None,
    prefix: str = "config",
    overrides: Sequence[str] = (),
) -> Schema:
    """Read configuration into a schema.

    Args:
        schema: The pydantic model to fill; it should forbid extra keys.
        files: YAML files, later ones over earlier ones.
        env: The environment; None means the process's own.
        prefix: The word after `STATEWARD_` in variables, and the optional first word of overrides.
        overrides: Texts such as `config.models.planner.temperature=0.2`.

    Returns:
        An instance of `schema`.

    Raises:
        ConfigError: A file cannot be read, a key is unknown, a value has a wrong type or is out of range, or a
            variable `STATEWARD_X__…` speaks of no section.
    """
    trees = [(str(file), _read(Path(file))) for file in files] or [("no file", _tree({}))]
    merged = _merge(*trees)
    edits = _edits(_plain(merged), env=env, prefix=prefix, overrides=overrides)
    sources = _Sources(files=tuple((label, (), _plain(tree)) for label, tree in trees), edits=edits)
    try:
        return schema.model_validate(_resolve(_apply(merged, edits), sources=sources))
    except ValidationError as error:
        found = first(problems(error, schema=schema))
        file, key = sources.locate(found.key)
        raise ConfigError(file=file, key=dotted(key), expected=found.expected, given=found.given) from error


def by_section(overrides: Sequence[str], *, sections: Sequence[str] = _SECTIONS) -> dict[str, tuple[str, ...]]:
    """Sort dotted overrides by their first word, so that each goes to the file it speaks of.

    Args:
        overrides: Texts such as `policy.fuses.usd=0.2`.
        sections: The words that may stand first.

    Returns:
        Section to its overrides, in order; every section is there.

    Raises:
        ConfigError: An override begins with another word.
    """
    sorted_out: dict[str, list[str]] = {section: [] for section in sections}
    for text in overrides:
        section = text.partition("=")[0].partition(".")[0].strip()
        if section not in sorted_out:
            known = " or ".join(f"`{name}.…`" for name in sections)
            raise ConfigError(
                file="override", key=text.partition("=")[0], expected=f"a key that begins with {known}", given=text
            )
        sorted_out[section].append(text)
    return {section: tuple(texts) for section, texts in sorted_out.items()}


def load_system(
    schema: type[Schema],
    config: str | Path,
    policy: str | Path,
    *,
    env: Mapping[str, str] | None = None,
    overrides: Sequence[str] = (),
) -> tuple[Schema, Policy]:
    """Read the configuration and the policy of one system, as `load` and `load_policy` do.

    Args:
        schema: The pydantic model of the configuration.
        config: The YAML file of the configuration.
        policy: The policy's name or file.
        env: The environment; None means the process's own.
        overrides: Texts that begin with `config.` or `policy.`; each goes to its own.

    Raises:
        ConfigError: One of them is wrong, or an override begins with another word.
    """
    given = by_section(overrides)
    read = load(schema, config, env=env, overrides=given["config"])
    return read, load_policy(policy, env=env, overrides=given["policy"])


def load_policy(
    name_or_path: str | Path,
    *,
    folder: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    overrides: Sequence[str] = (),
) -> Policy:
    """Read a policy, with its mode, the environment and overrides laid over it.

    Args:
        name_or_path: A name, for `<folder>/<name>.yaml`, or the path of a YAML file.
        folder: The folder of policies; None means the nearest `policies` folder that has the name, from the
            working directory upwards.
        env: The environment; None means the process's own. `STATEWARD_POLICY__FUSES__USD` sets `fuses.usd`.
        overrides: Texts such as `policy.fuses.usd=0.2`.

    Returns:
        The policy in its mode.

    Raises:
        ConfigError: The file is missing, the mode is not one of its modes, or a key or value of the file, of
            any of its modes, of the environment or of an override is wrong, or a variable `STATEWARD_X__…` speaks
            of no section.
    """
    path = _policy_path(name_or_path, folder=folder)
    base = _read(path)
    plain = _plain(base)
    edits = _edits(plain, env=env, prefix="policy", overrides=overrides)
    modes = _modes(plain, file=str(path))
    for mode in modes:
        _policy(base, mode=mode, edits=(), path=path)
    return _policy(base, mode=_chosen_mode(plain, modes=modes, edits=edits, path=path), edits=edits, path=path)


def _policy(base: DictConfig, *, mode: str | None, edits: tuple[_Edit, ...], path: Path) -> Policy:
    file = str(path)
    trees: list[tuple[str, Key, DictConfig]] = [(file, (), base)]
    if mode is not None:
        trees.append((file, ("modes", mode), cast(DictConfig, base["modes"][mode])))
    sources = _Sources(files=tuple((label, key, _plain(tree)) for label, key, tree in trees), edits=edits)
    merged = _merge(*((label, tree) for label, _, tree in trees))
    data = _resolve(_apply(merged, edits), sources=sources)
    source = f"{path.parent.name}/{path.name}" if path.parent.name else path.name
    return policy_from(data, name=path.stem, source=source, locate=sources.locate)


def _modes(plain: Mapping[str, object], *, file: str) -> tuple[str, ...]:
    modes = plain.get("modes", {})
    if not isinstance(modes, Mapping):
        raise ConfigError(file=file, key="modes", expected="a mapping of modes", given=modes)
    known = known_keys(PolicyContent, key=())
    for mode, content in cast("Mapping[str, object]", modes).items():
        if not isinstance(content, Mapping):
            raise ConfigError(file=file, key=f"modes.{mode}", expected="a mapping", given=content)
        for key in cast("Mapping[str, object]", content):
            if key not in known:
                expected = f"one of the keys {', '.join(known)}"
                raise ConfigError(file=file, key=f"modes.{mode}.{key}", expected=expected, given=key)
    return tuple(cast("Mapping[str, object]", modes))


def _chosen_mode(
    plain: Mapping[str, object], *, modes: Sequence[str], edits: Sequence[_Edit], path: Path
) -> str | None:
    label, mode = str(path), plain.get("mode", DEFAULT_MODE)
    for edit in edits:
        if edit.key == ("mode",):
            label, mode = edit.label, edit.value
    if mode in modes:
        return str(mode)
    if mode == DEFAULT_MODE:
        return None
    known = ", ".join(dict.fromkeys((DEFAULT_MODE, *modes)))
    raise ConfigError(file=label, key="mode", expected=f"one of the modes {known}", given=mode)


def _policy_path(name_or_path: str | Path, *, folder: str | Path | None) -> Path:
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or text.endswith((".yaml", ".yml")) or "/" in text:
        return Path(name_or_path)
    here = Path.cwd()
    above = [place / "policies" for place in (here, *here.parents)]
    places = above if folder is None else [Path(folder)]
    for place in places:
        if (place / f"{text}.yaml").is_file():
            return place / f"{text}.yaml"
    raise _missing(text, places=[place for place in places if place.is_dir()] or places[:1], key="policy")


def _missing(name: str, *, places: Sequence[Path], key: str) -> ConfigError:
    """Say where a file was searched, and what is there."""
    files = sorted({file.name for place in places for file in (*place.glob("*.yaml"), *place.glob("*.yml"))})
    none = "a YAML file there, but there is none" if places[0].is_dir() else "that folder, but there is none"
    expected = f"one of the files there: {', '.join(files)}" if files else none
    fix = f"Correct the name, or write `{places[0] / name}{'.yaml' if key == 'policy' else ''}`."
    return ConfigError(file=" and ".join(map(str, places)), key=key, expected=expected, given=name, fix=fix)


_WHOLE = "the whole"


def _read(path: Path) -> DictConfig:
    file = str(path)
    try:
        tree = OmegaConf.load(path)
    except FileNotFoundError as error:
        raise _missing(path.name, places=[path.parent.absolute()], key="file") from error
    except (yaml.YAMLError, OmegaConfBaseException, UnicodeDecodeError) as error:
        key, found = _yaml_place(error)
        fix = "Correct the file at that place."
        raise ConfigError(file=file, key=key, expected="valid YAML in UTF-8", given=found, fix=fix) from error
    except OSError as error:
        given, fix = error.strerror or str(error), "Check what the path leads to, and its permissions."
        raise ConfigError(file=file, key=_WHOLE, expected="a YAML file to read", given=given, fix=fix) from error
    if not isinstance(tree, DictConfig):
        raise ConfigError(file=file, key=_WHOLE, expected="a mapping", given="a list", fix="Write `key: value` lines.")
    return tree


def _yaml_place(error: Exception) -> tuple[str, str]:
    if isinstance(error, OmegaConfBaseException):
        return _error_key(error) or _WHOLE, str(error.msg)
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}", error.problem or str(error)
    return _WHOLE, str(error)


def _tree(data: Mapping[str, object]) -> DictConfig:
    return OmegaConf.create(dict(data))


def _merge(*trees: tuple[str, DictConfig]) -> DictConfig:
    try:
        return cast(DictConfig, OmegaConf.merge(*(tree for _, tree in trees)))
    except OmegaConfBaseException as error:
        raise ConfigError(
            file=trees[-1][0], key=_error_key(error), expected="the same shape as before", given=error.msg
        ) from error


def _plain(tree: DictConfig) -> dict[str, object]:
    return cast("dict[str, object]", OmegaConf.to_container(tree, resolve=False))


def _resolve(tree: DictConfig, *, sources: _Sources) -> dict[str, object]:
    try:
        return cast("dict[str, object]", OmegaConf.to_container(tree, resolve=True, throw_on_missing=True))
    except OmegaConfBaseException as error:
        key = _error_key(error)
        file, _ = sources.locate(_parse_key(key))
        raise ConfigError(file=file, key=key, expected="a value that can be resolved", given=error.msg) from error


def _error_key(error: OmegaConfBaseException) -> str:
    return str(error.full_key or error.key or "")


def _apply(tree: DictConfig, edits: Sequence[_Edit]) -> DictConfig:
    for edit in edits:
        try:
            OmegaConf.update(tree, dotted(edit.key), edit.value, merge=True, force_add=True)
        except (OmegaConfBaseException, TypeError, ValueError, IndexError) as error:
            raise ConfigError(
                file=edit.label, key=dotted(edit.key), expected="a key that can be set", given=edit.value
            ) from error
    return tree


def _edits(
    known: Mapping[str, object], *, env: Mapping[str, str] | None, prefix: str, overrides: Sequence[str]
) -> tuple[_Edit, ...]:
    given = os.environ if env is None else env
    _refuse_unknown_sections(given, prefix=prefix)
    return (
        *_from_environment(known, env=given, start=f"{_START}{prefix.upper()}__"),
        *(_from_override(text, start=f"{prefix}.") for text in overrides),
    )


def _refuse_unknown_sections(env: Mapping[str, str], *, prefix: str) -> None:
    """Refuse a variable that speaks of no section, because nobody else would read it."""
    known = [section.upper() for section in sorted({*_SECTIONS, prefix})]
    for name in sorted(env):
        section, double, _ = name[len(_START) - 1 :].partition("__")
        if name.upper().startswith(_START) and double and section[1:].upper() not in known:
            expected, fix = f"one of {', '.join(known)}", "Correct the name or unset the variable."
            raise ConfigError(file=name, key="section", expected=expected, given=section[1:], fix=fix)


def _from_environment(known: Mapping[str, object], *, env: Mapping[str, str], start: str) -> Iterator[_Edit]:
    for name in sorted(env):
        if name.upper().startswith(start):
            words = name[len(start) :].split("__")
            key = _spelled(known, words)
            yield _Edit(label=name, key=key, value=_value(env[name], label=name, key=dotted(key)))


def _from_override(text: str, *, start: str) -> _Edit:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(file=text, key=name, expected="`key=value`", given=text)
    key = _parse_key(name.strip().removeprefix(start))
    return _Edit(label=text, key=key, value=_value(value, label=text, key=dotted(key)))


def _spelled(known: object, words: Sequence[str]) -> Key:
    """Give the words of a variable's name the spelling that the data uses, else lower case."""
    key: list[str | int] = []
    for word in words:
        names: Mapping[str, object] = {}
        if isinstance(known, Mapping):
            names = cast("Mapping[str, object]", known)
        name = next((name for name in names if name.lower() == word.lower()), word.lower())
        key.append(name)
        known = names.get(name)
    return tuple(key)


def _parse_key(text: str) -> Key:
    words = text.replace("[", ".[").split(".")
    return tuple(int(word[1:-1]) if _is_place(word) else word for word in words if word)


def _is_place(word: str) -> bool:
    return word.startswith("[") and word.endswith("]") and word[1:-1].isdecimal()


def _value(text: str, *, label: str, key: str) -> object:
    try:
        return _plain(OmegaConf.from_dotlist([f"value={text}"]))["value"]
    except (yaml.YAMLError, OmegaConfBaseException) as error:
        raise ConfigError(file=label, key=key, expected="a YAML value", given=text) from error


def _overlap(one: Key, other: Key) -> bool:
    return all(str(left) == str(right) for left, right in zip(one, other, strict=False))


def _depth(data: object, key: Key) -> int:
    """Count how far a key can be followed into data."""
    for depth, part in enumerate(key):
        if isinstance(data, Mapping) and part in data:
            data = cast("Mapping[object, object]", data)[part]
        elif isinstance(data, list) and isinstance(part, int) and part < len(cast("list[object]", data)):
            data = cast("list[object]", data)[part]
        else:
            return depth
    return len(key)
