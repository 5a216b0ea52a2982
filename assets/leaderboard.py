"""Asset `leaderboard`: all agents side by side; it writes no table, so only its bytes are checked."""

from assets.checks import Promises

STAGE = "leaderboard"
PROMISES: Promises = {}
