"""Load, faults and attacks on the real server: `make reliability` runs all of it at full size.

`make test` runs it short: the same code with smaller numbers, where figures in seconds and
megabytes are printed but cannot fail, for a busy machine would decide them.
"""
