"""Elementwise operations: arithmetic, comparison, logic, powers, exponentials, trigonometry, rounding, where and clamp."""
