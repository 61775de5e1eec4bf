"""Examples, which tests run too."""
