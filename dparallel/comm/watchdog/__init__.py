"""Finds ranks that wait for each other in vain, and says which line of the user's each waits at."""
