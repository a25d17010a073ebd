"""Detects ranks that wait for each other in vain, and reports the user's line at which each waits."""
