"""Agents with a language model behind them, over any endpoint that speaks the OpenAI protocol.

`session` holds the dialogue; `stream` and `endpoint` the wire; `faults` says what is whose failure; `spoken`,
`sentences` and `toolcalls` tell what a model writes for the ear from what it writes for the machine.
"""
