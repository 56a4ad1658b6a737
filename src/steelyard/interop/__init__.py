"""Interoperation: drop-ins under other libraries' names, with their conventions, counted by our kernels."""
