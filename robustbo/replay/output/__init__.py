"""What a run leaves: tables, pictures and pages."""
