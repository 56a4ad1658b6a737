"""Other libraries' doors: drop-ins under their names, with their conventions, counted by our kernels."""
