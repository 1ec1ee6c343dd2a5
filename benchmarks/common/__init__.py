"""What commands of several folders share: recorded cells, CSV files, tables, pages and where rows come from."""
