"""The embedded reference agent: a dialogue policy over what was recognised, without any model.

`understand` reads one recognised utterance, `policy` keeps the dialogue's state and decides.
"""
