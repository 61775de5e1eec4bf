"""Who is let in, and what nobody sees. Issue: trust."""
