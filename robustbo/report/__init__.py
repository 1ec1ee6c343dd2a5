"""An optimization as people look at it: summaries, tables, charts and pages."""
