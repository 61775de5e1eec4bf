"""Protocol of Kangtou: messages and services, one subpackage a version."""
