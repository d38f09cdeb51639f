"""`<send>` and `<cancel>`: to the session itself as delayed events of the chart, to others through the outbox."""

from __future__ import annotations

import re
from typing import Any

from stateward.chart.delay import Delayed
from stateward.exchange.element import Element
from tests.conformance.block import Block, address, is_address
from tests.conformance.event_view import PROCESSOR, failed, from_outside, raised
from tests.conformance.payload import payload
from tests.conformance.value import UNDEFINED, NotSupportedError, ScriptError, encode

_HTTP = "http://www.w3.org/TR/scxml/#BasicHTTPEventProcessor"


def send(element: Element, block: Block) -> None:
    """Carry out a `<send>`.

    Raises:
        ScriptError: An argument is wrong, or the target or type is none; nothing is sent then.
        NotSupportedError: It goes to the HTTP processor, which is not built.

    Source: SCXML 6.2.
    """
    sendid = _send_id(element, block)
    try:
        message, target = _message(element, block, sendid=sendid), _argument(element, "target", block)
        delay = seconds(_argument(element, "delay", block))
        _post(block, message, target=target, delay=delay, sendid=sendid)
    except ScriptError as error:
        raise ScriptError(str(error), sendid=sendid) from error


def cancel(element: Element, block: Block) -> None:
    """Carry out a `<cancel>`.

    Raises:
        ScriptError: The id cannot be evaluated.

    Source: SCXML 6.3.
    """
    sendid = str(_argument(element, "sendid", block))
    block.news.append(Delayed.cancel(sendid))
    block.post({"cancel": sendid})


def seconds(delay: Any) -> float:
    """Return a delay in seconds.

    Raises:
        ScriptError: It is no delay of CSS2.
    """
    found = re.fullmatch(r"\s*(\d*\.?\d+)\s*(ms|s)\s*", str(delay)) if delay is not None else None
    if delay is not None and not found:
        raise ScriptError(f"{delay!r} is no delay")
    return float(found[1]) / (1000 if found[2] == "ms" else 1) if found else 0.0


def _send_id(element: Element, block: Block) -> str | None:
    location = element.attributes.get("idlocation")
    if location is None:
        return element.attributes.get("id")
    made = block.new_id("send")
    block.assign(location, made)
    return made


def _argument(element: Element, name: str, block: Block) -> Any:
    expr = element.attributes.get(f"{name}expr")
    return element.attributes.get(name) if expr is None else block.evaluate(expr)


def _message(element: Element, block: Block, *, sendid: str | None) -> dict[str, Any]:
    kind = _argument(element, "type", block)
    if kind == _HTTP:
        raise NotSupportedError("the HTTP processor")
    if kind not in (None, "scxml", PROCESSOR):
        raise ScriptError(f"there is no processor {kind!r}")
    data = payload(element, block)
    fields: dict[str, Any] = {"origin": address(block.session), "origintype": PROCESSOR}
    if data is not UNDEFINED:
        fields["data"] = encode(data)
    if sendid:
        fields["sendid"] = sendid
    return {"name": str(_argument(element, "event", block) or ""), "fields": fields}


def _post(block: Block, message: dict[str, Any], *, target: Any, delay: float, sendid: str | None) -> None:
    name, fields = message["name"], message["fields"]
    if target == "#_internal":
        inner = {key: value for key, value in fields.items() if key in ("data", "sendid")}
        block.news.append(raised(name, **inner))
    elif target in (None, address(block.session)):
        block.news.append(Delayed(from_outside(name, **fields), after_s=delay + block.latency(), id=sendid or ""))
    elif _is_nobody(target, block):
        block.news.append(failed("error.communication", f"{target} is not there", sendid=sendid))
    elif isinstance(target, str) and re.fullmatch(r"#_\w[\w.-]*", target):
        block.post({"to": target, "event": message, "delay_s": delay, "sendid": sendid})
    else:
        raise ScriptError(f"{target!r} is no target")


def _is_nobody(target: Any, block: Block) -> bool:
    """Tell whether a well-formed target leads nowhere for sure: what is known without looking at other sessions."""
    if target == "#_parent":
        return not block.data["session"]["invoked_as"]
    return isinstance(target, str) and target.startswith("#_scxml_") and not is_address(target)
