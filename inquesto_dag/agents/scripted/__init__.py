"""The embedded reference agent: a dialogue policy over what was recognised, without any model.

`understand` reads one recognised utterance, `policy` keeps the dialogue's state and decides.
"""

# Raised when an answer can change; tests/agents/test_version.py fails when the code changed and this did not.
POLICY_VERSION = 1
