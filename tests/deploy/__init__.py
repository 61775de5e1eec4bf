"""What is in `deploy/`, and how much of it for how many players."""
