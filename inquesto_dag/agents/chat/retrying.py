"""When a request is made again, and after how long: for failures that may pass (PROTOCOL D14)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from inquesto_dag.agents.chat.faults import Fault
from inquesto_dag.agents.chat.settings import ChatTransport
from inquesto_dag.units import Seconds

if TYPE_CHECKING:
    from tenacity import RetryCallState, Retrying


def retrying(
    transport: ChatTransport, sleep: Callable[[float], None], told: Callable[[Fault], None]
) -> Retrying:
    """What calls a function until it succeeds, fails for good, or `transport.attempts` are used up.

    Waits grow, or are what the endpoint asks for; one that asks for longer than `longest_wait_s` has failed.
    `told(fault)` hears of every failure that is got over, `sleep(s)` waits. The last Fault is raised as it
    is.
    """
    from tenacity import Retrying, retry_if_exception, stop_after_attempt

    def may_pass(error: BaseException) -> bool:
        return (
            isinstance(error, Fault) and error.passing and (error.wait_s or 0.0) <= transport.longest_wait_s
        )

    def wait(state: RetryCallState) -> Seconds:
        asked = _fault_of(state).wait_s
        grown = transport.first_wait_s * 2.0 ** (state.attempt_number - 1)
        return min(transport.longest_wait_s, grown if asked is None else asked)

    return Retrying(
        stop=stop_after_attempt(transport.attempts),
        retry=retry_if_exception(may_pass),
        wait=wait,
        sleep=sleep,
        before_sleep=lambda state: told(_fault_of(state)),
        reraise=True,
    )


def _fault_of(state: RetryCallState) -> Fault:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, Fault) else Fault("unknown")
