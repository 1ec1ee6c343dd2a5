"""Pages in HTML: of a study, of several studies side by side."""
