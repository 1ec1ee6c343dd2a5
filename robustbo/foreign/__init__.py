"""What others have written, read within limits: files, and texts of TOML and JSON."""
