"""What the decode path costs, beside other ways to the same numbers: `make bench` runs it.

Everything of one table is measured in one run, interleaved, so that what the machine does besides
falls on all alike. Figures are medians; read the ratios.
"""
