"""Debugging aids: draw() shows a recorded graph, show_config() the libraries in use.

Read first: drawing.py."""
