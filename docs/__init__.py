"""The documentation, and `docs.draw`, which keeps its pictures as the code is.

The folder has this file for the reason given in `nodes`.
"""
