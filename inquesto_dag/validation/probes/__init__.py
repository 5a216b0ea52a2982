"""Probe agents: each commits one known failure, or stays just short of it, in calls with real sound."""
