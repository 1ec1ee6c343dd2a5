"""Modules that commands of several folders share: cells, CSV files, tables, pages and where rows come from."""
