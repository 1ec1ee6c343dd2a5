"""Charts as plain data, and their drawing as SVG or by matplotlib."""
