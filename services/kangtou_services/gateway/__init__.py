"""The gateway: gRPC in front, links to the table actors behind. It forwards bytes and never looks at a card."""
