"""Questions that activities put to people: what is asked, what comes back, and reminders."""
