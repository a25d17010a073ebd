"""Modules by family."""
