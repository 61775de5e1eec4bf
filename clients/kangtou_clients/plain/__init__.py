"""The line mode of `kangtou play`: for pipes, for screen readers, for whoever likes it plain."""
