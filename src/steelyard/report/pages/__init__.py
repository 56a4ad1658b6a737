"""Pages: self-contained HTML documents, each a frame of sections, and the compact views of notebooks."""
