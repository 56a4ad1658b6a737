"""Speed beside the peers."""
