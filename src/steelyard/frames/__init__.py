"""Frames: rows of any engine, checked and counted where they live."""
