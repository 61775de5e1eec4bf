"""Small games for tests of the platform."""
