"""Sheets of trials that people fill in: a CSV file or a workbook, read as it is and added to, never written over."""
