"""`kangtou doctor`: is everything here as a server needs it? Each check names what is wrong; the words say the cure."""
