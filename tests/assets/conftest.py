"""Great Expectations and Dagster warn of their own futures; what they say is not about this project."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
sys.path.insert(0, str(Path(__file__).parents[2]))
