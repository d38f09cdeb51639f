"""Prompts: Jinja templates in a folder beside the domain, read once, strict, sandboxed and versioned by hash.

All files are read and compiled when `Prompts` is made: a template that is written wrongly is found before a run, and
rendering touches no file, so that it may be done where nothing may block. A change of a file is another hash, which is
recorded with each call that uses the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from jinja2 import Environment, FunctionLoader, StrictUndefined, TemplateSyntaxError, UndefinedError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from stateward.errors import DefinitionError
from stateward.govern.fingerprint import digest
from stateward.run.rendered import Rendered

SUFFIX = ".jinja"
_CHANCE = ("random", "shuffle")
"""Filters that render anew each time: an activity that is entered again would make another call than it did."""
_MISSING = re.compile(r"^'(\w+)' is undefined$")


@dataclass(frozen=True, slots=True)
class Source:
    """One template as it was read."""

    text: str
    file: str
    """The file, for messages; of a text that was given the name."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of a set.

    It is made by `prompts[name]`.
    """

    prompts: Prompts
    name: str
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Variables that it has been given already."""

    @property
    def hash(self) -> str:
        """SHA-256 over its source and that of all it includes."""
        return self.prompts.hashes[self.name]

    @property
    def variables(self) -> frozenset[str]:
        """The variables it or what it includes mentions and nobody has given yet."""
        return self.prompts.variables(self.name) - frozenset(self.values)

    def given(self, **values: Any) -> Prompt:
        """Return the prompt with some of its variables given.

        Args:
            values: By name.
        """
        return replace(self, values={**self.values, **values})

    def render(self, **values: Any) -> Rendered:
        """Fill it.

        Args:
            values: The variables; they win over those that were given before.

        Returns:
            The text, which knows the prompt's name and hash.

        Raises:
            DefinitionError: A variable is missing, or the template fails otherwise.
        """
        return self.prompts.render(self.name, **{**self.values, **values})


class Prompts:
    """The prompts of one folder.

    Args:
        folder: Where the files are: `judge.jinja` is the prompt `judge`, `team/judge.jinja` is `team/judge`.
        filters: Filters of your own, by name.

    Raises:
        DefinitionError: The folder does not exist or has no prompt, a file is no UTF-8, a template is written wrongly,
            or includes one that is not there.
    """

    def __init__(self, folder: str | Path, *, filters: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self._set(_read(Path(folder)), where=str(folder), filters=filters)

    @classmethod
    def of(cls, sources: Mapping[str, str], *, filters: Mapping[str, Callable[..., Any]] | None = None) -> Self:
        """Make prompts of texts, without a folder.

        Args:
            sources: The templates by name.
            filters: As for the class.

        Raises:
            DefinitionError: As for the class.
        """
        made = cls.__new__(cls)
        texts = {name: Source(text, f"prompt `{name}`") for name, text in sources.items()}
        made._set(texts, where="`Prompts.of`", filters=filters)
        return made

    def _set(
        self, sources: Mapping[str, Source], *, where: str, filters: Mapping[str, Callable[..., Any]] | None
    ) -> None:
        self._where = where
        self._sources = dict(sorted(sources.items()))
        self._environment = _environment(self._sources, filters=filters or {})
        reached = {name: self._reached(name) for name in self._sources}
        self.hashes: Mapping[str, str] = MappingProxyType(
            {name: digest([[each, self._sources[each].text] for each in all_]) for name, all_ in reached.items()}
        )
        """The hash of each prompt, by name."""
        self._variables = {name: self._mentioned(all_) for name, all_ in reached.items()}

    def __getitem__(self, name: str) -> Prompt:
        """Return a prompt.

        Args:
            name: Its name.

        Raises:
            DefinitionError: There is none of the name.
        """
        self._find(name)
        return Prompt(self, _bare(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __contains__(self, name: object) -> bool:
        return name in self._sources

    def __len__(self) -> int:
        return len(self._sources)

    def render(self, prompt: str, /, **values: Any) -> Rendered:
        """Fill a prompt.

        Args:
            prompt: Its name.
            values: Its variables. What they say is data: it is not rendered.

        Returns:
            The text, which knows the prompt's name and hash: calls that use it record both.

        Raises:
            DefinitionError: There is no such prompt, a variable is missing, or the template fails otherwise.
        """
        self._find(prompt)
        name = _bare(prompt)
        try:
            text = self._environment.get_template(name).render(values)
        except Exception as error:
            raise self._failed(name, error, values) from error
        return Rendered.of(text, name=name, hash=self.hashes[name])

    def variables(self, prompt: str) -> frozenset[str]:
        """Return the names of the variables that a prompt mentions, with all that it includes.

        Args:
            prompt: Its name.

        Raises:
            DefinitionError: There is no such prompt.
        """
        self._find(prompt)
        return self._variables[_bare(prompt)]

    def _find(self, name: str, *, where: str = "", by: str = "") -> None:
        if _bare(name) in self._sources:
            return
        near = get_close_matches(_bare(name), list(self._sources), n=3, cutoff=0.5)
        known = ", ".join(f"`{each}`" for each in self._sources)
        raise DefinitionError(
            f"There is no prompt `{_bare(name)}`{by}",
            where=where or self._where,
            fix=f"Did you mean {' or '.join(f'`{each}`' for each in near)}?" if near else f"There are: {known}.",
        )

    def _reached(self, name: str) -> tuple[str, ...]:
        """Return a prompt and all it includes, by name; all there are where it says only at work what it includes."""
        found, left = {name}, [name]
        while left:
            source = self._sources[at := left.pop()]
            for other in meta.find_referenced_templates(self._parsed(source, at)):
                if other is None:
                    return tuple(self._sources)
                self._find(other, where=source.file, by=f", which `{at}` includes")
                if _bare(other) not in found:
                    found.add(_bare(other))
                    left.append(_bare(other))
        return tuple(sorted(found))

    def _mentioned(self, names: tuple[str, ...]) -> frozenset[str]:
        parsed = (self._parsed(self._sources[name], name) for name in names)
        return frozenset(name for each in parsed for name in meta.find_undeclared_variables(each))

    def _parsed(self, source: Source, name: str) -> Any:  # a tree of Jinja's nodes
        try:
            self._environment.get_template(name)  # it also looks for filters that are not there
            return self._environment.parse(source.text, name, source.file)
        except TemplateSyntaxError as wrong:
            raise DefinitionError(
                f"The prompt `{name}` is written wrongly: {wrong.message}",
                where=f"{wrong.filename or source.file}:{wrong.lineno}",
                fix="Correct the template there.",
            ) from wrong

    def _failed(self, name: str, error: Exception, values: Mapping[str, Any]) -> DefinitionError:
        missing = _MISSING.match(str(error)) if isinstance(error, UndefinedError) else None
        where = self._place(error) or self._sources[name].file
        if missing is None:
            told = f"{type(error).__name__}: {error}" if not isinstance(error, UndefinedError) else str(error)
            return DefinitionError(
                f"The prompt `{name}` cannot be rendered: {told}",
                where=where,
                fix="Correct the template or its values.",
            )
        variable = missing[1]
        near = get_close_matches(variable, list(values), n=1)
        advice = (
            f" You gave `{near[0]}`." if near else f" Given: {', '.join(f'`{each}`' for each in values) or 'none'}."
        )
        return DefinitionError(
            f"The prompt `{name}` needs the variable `{variable}`, which was not given",
            where=where,
            fix=f'Give it: `render("{name}", {variable}=…)`.{advice}',
        )

    def _place(self, error: Exception) -> str:
        """Return the file and the line of a template in which an error was raised; empty when it was in none."""
        files = {source.file for source in self._sources.values()}
        place, trace = "", error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in files:
                place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
            trace = trace.tb_next
        return place


def _environment(sources: Mapping[str, Source], *, filters: Mapping[str, Callable[..., Any]]) -> Environment:
    def load(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        source = sources.get(_bare(name))
        return None if source is None else (source.text, source.file, lambda: True)

    environment = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        cache_size=-1,
        auto_reload=False,
    )
    for name in _CHANCE:
        environment.filters.pop(name, None)
    environment.globals.pop("lipsum", None)
    environment.filters.update(filters)
    return environment


def _read(folder: Path) -> dict[str, Source]:
    if not folder.is_dir():
        raise DefinitionError(
            f"There is no folder `{folder}` with prompts",
            where="Prompts",
            fix='Name it from the module that uses it: `Prompts(Path(__file__).parent / "prompts")`.',
        )
    found = {_bare(path.relative_to(folder).as_posix()): path for path in sorted(folder.rglob(f"*{SUFFIX}"))}
    if not found:
        raise DefinitionError(
            f"The folder `{folder}` has no prompt", where="Prompts", fix=f"Name its files `NAME{SUFFIX}`."
        )
    return {name: Source(_text(path), str(path)) for name, path in found.items()}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as wrong:
        raise DefinitionError("The prompt is no UTF-8 text", where=str(path), fix="Save it as UTF-8.") from wrong


def _bare(name: str) -> str:
    return name.removesuffix(SUFFIX)
