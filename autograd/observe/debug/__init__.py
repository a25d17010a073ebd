"""Debugging aids: draw() shows a recorded graph, show_config() what this installation uses.

Read first: drawing.py."""
