"""What is in `deploy/`: against its schemas, and started without containers."""
