"""Activities, guards and tools of the systems in `graphs`.

Both folders have this file so that they are found although the checkout stands last on the path, as an editable
install puts it there: a folder without it loses to a package of the same name anywhere on the path.
"""
