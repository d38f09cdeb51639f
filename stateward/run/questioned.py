"""What a session does about its questions: answers are expected, recorded, and gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from stateward.run.answering import claimed, expect, recording, refuse_misfits, refuse_strange
from stateward.run.conversation import Conversation
from stateward.run.drive import Steps, Work, doing
from stateward.run.going import going_on
from stateward.run.outcome import Outcome
from stateward.run.store.ask import Ask
from stateward.run.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Questioned(Conversation):
    """A session that may wait for answers; `Session` says what each field is."""

    def answer(
        self,
        ask: str,
        decision: Verdict,
        *,
        by: str,
        note: str = "",
        tool: str = "",
        arguments: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Answer an ask and go on as soon as its activity waits for no other; a run that is at work picks it up itself.

        Args:
            ask: Its id.
            decision: `approve`, `reject`, `edit` or `respond`.
            by: Who answers.
            note: Why, for the model and the audit log; with `respond` what the model is told.
            tool: The tool that is meant, of an edit the one that is wanted; empty for the one that was shown.
            arguments: The arguments that are meant, of an edit all of those that are wanted.

        Returns:
            Where the session stands.

        Raises:
            UnknownAsk: No ask has this id.
            AskClosed: It was answered, withdrawn or expired before.
            NotExpected: The ask is another session's, or its session does not wait for it here.
            InputRefused: The name or the note cannot be kept, or another call is meant than was shown, or an edit
                leads to no call.
            GovernanceError: The person may not answer it, or has done so already.
            Drift: The run was started by another definition; the answer is not recorded.
        """
        return self._done(self._answering({ask: _said(decision, tool, arguments)}, by=by, note=note))

    async def aanswer(
        self,
        ask: str,
        decision: Verdict,
        *,
        by: str,
        note: str = "",
        tool: str = "",
        arguments: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Answer an ask and go on; see `answer`.

        Args:
            ask: Its id.
            decision: `approve`, `reject`, `edit` or `respond`.
            by: Who answers.
            note: Why, for the model and the audit log; with `respond` what the model is told.
            tool: The tool that is meant, of an edit the one that is wanted; empty for the one that was shown.
            arguments: The arguments that are meant, of an edit all of those that are wanted.

        Returns:
            Where the session stands.

        Raises:
            UnknownAsk: No ask has this id.
            AskClosed: It was answered, withdrawn or expired before.
            NotExpected: The ask is another session's, or its session does not wait for it here.
            InputRefused: The name or the note cannot be kept, or another call is meant than was shown, or an edit
                leads to no call.
            GovernanceError: The person may not answer it, or has done so already.
            Drift: The run was started by another definition; the answer is not recorded.
        """
        return await self._adone(self._answering({ask: _said(decision, tool, arguments)}, by=by, note=note))

    def answer_all(self, values: Mapping[str, Any], *, by: str, note: str = "") -> Outcome:
        """Answer several asks by one map, and go on as soon as no activity waits for another.

        Args:
            values: Ask to what is said: True or False to what is to be approved, an option, a text, the edited value.
            by: Who answers.
            note: Why.

        Returns:
            Where the session stands.

        Raises:
            UnknownAsk: No ask has such an id.
            AskClosed: One was answered, withdrawn or expired before.
            NotExpected: An ask is another session's, or its session does not wait for it here.
            InputRefused: A value is none that was asked for; nothing was recorded.
            GovernanceError: The person may not answer one, or has done so already.
            Drift: The run was started by another definition; no answer is recorded.
        """
        return self._done(self._answering_all(values, by=by, note=note))

    async def aanswer_all(self, values: Mapping[str, Any], *, by: str, note: str = "") -> Outcome:
        """Answer several asks by one map, and go on; see `answer_all`.

        Args:
            values: Ask to what is said: True or False to what is to be approved, an option, a text, the edited value.
            by: Who answers.
            note: Why.

        Returns:
            Where the session stands.

        Raises:
            UnknownAsk: No ask has such an id.
            AskClosed: One was answered, withdrawn or expired before.
            NotExpected: An ask is another session's, or its session does not wait for it here.
            InputRefused: A value is none that was asked for; nothing was recorded.
            GovernanceError: The person may not answer one, or has done so already.
            Drift: The run was started by another definition; no answer is recorded.
        """
        return await self._adone(self._answering_all(values, by=by, note=note))

    def _answering_all(self, values: Mapping[str, Any], *, by: str, note: str) -> Steps[Outcome]:
        yield Work(fn=partial(refuse_misfits, self._caller, values, by=by))
        return (yield from self._answering({ask: {"value": value} for ask, value in values.items()}, by=by, note=note))

    def _answering(self, answers: Mapping[str, Verdict | Mapping[str, Any]], *, by: str, note: str) -> Steps[Outcome]:
        yield from recording(self._caller, answers, by=by, note=note)
        outcome = yield from going_on(self._caller, self._terms)
        return (yield self._caller.looking()) if outcome is None else outcome

    def expect(self, ask: str) -> None:
        """Check that an answer would lead somewhere, before it is recorded: an ask takes only one.

        Args:
            ask: Its id.

        Raises:
            UnknownAsk: No ask has this id.
            NotExpected: The session does not wait for it, or keeps its checkpoints elsewhere, or what comes first, a
                timer for instance, leaves the state that asked.
            Drift: The run was started by another definition.
        """
        expect(self._caller.kept(), ask)

    async def aexpect(self, ask: str) -> None:
        """Check that an answer would lead somewhere; see `expect`.

        Args:
            ask: Its id.

        Raises:
            UnknownAsk: No ask has this id.
            NotExpected: The session does not wait for it, or keeps its checkpoints elsewhere, or what comes first, a
                timer for instance, leaves the state that asked.
            Drift: The run was started by another definition.
        """
        await self._adone(doing(Work(fn=self.expect, args=(ask,))))

    def claim(
        self,
        ask: str,
        decision: Verdict,
        *,
        by: str,
        note: str = "",
        tool: str = "",
        arguments: Mapping[str, Any] | None = None,
    ) -> Ask:
        """Record an answer without going on.

        Args:
            ask: Its id.
            decision: `approve`, `reject`, `edit` or `respond`.
            by: Who answers.
            note: Why; with `respond` what the model is told.
            tool: The tool that is meant, of an edit the one that is wanted; empty for the one that was shown.
            arguments: The arguments that are meant, of an edit all of those that are wanted.

        Returns:
            The ask: answered, or open when it needs the approval of more people.

        Raises:
            UnknownAsk: No ask has this id.
            AskClosed: It was answered, withdrawn or expired before.
            NotExpected: The ask is another session's.
            InputRefused: The name or the note cannot be kept, or another call is meant than was shown, or an edit
                leads to no call.
            GovernanceError: The person may not answer it, or has done so already.
        """
        return claimed(self._caller, ask, decision, by=by, note=note, tool=tool, arguments=arguments)

    async def aclaim(
        self,
        ask: str,
        decision: Verdict,
        *,
        by: str,
        note: str = "",
        tool: str = "",
        arguments: Mapping[str, Any] | None = None,
    ) -> Ask:
        """Record an answer without going on; see `claim`.

        Args:
            ask: Its id.
            decision: `approve`, `reject`, `edit` or `respond`.
            by: Who answers.
            note: Why; with `respond` what the model is told.
            tool: The tool that is meant, of an edit the one that is wanted; empty for the one that was shown.
            arguments: The arguments that are meant, of an edit all of those that are wanted.

        Returns:
            The ask: answered, or open when it needs the approval of more people.

        Raises:
            UnknownAsk: No ask has this id.
            AskClosed: It was answered, withdrawn or expired before.
            NotExpected: The ask is another session's.
            InputRefused: The name or the note cannot be kept, or another call is meant than was shown, or an edit
                leads to no call.
            GovernanceError: The person may not answer it, or has done so already.
        """
        return await self._adone(
            doing(Work(fn=partial(self.claim, ask, decision, by=by, note=note, tool=tool, arguments=arguments)))
        )

    def refuse_strange(self) -> None:
        """Check that the session can be gone on with here.

        Raises:
            NotExpected: It keeps its checkpoints elsewhere.
        """
        refuse_strange(self._caller)


def _said(decision: Verdict, tool: str, arguments: Mapping[str, Any] | None) -> Verdict | Mapping[str, Any]:
    if not tool and arguments is None:
        return decision
    return {"decision": decision, "tool": tool, **({} if arguments is None else {"arguments": arguments})}
