"""The kinds of content a policy has: one file each, with its units and how it tightens."""
