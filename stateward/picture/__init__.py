"""Pictures of charts: what is to be seen, where it goes, and how it is written down."""
