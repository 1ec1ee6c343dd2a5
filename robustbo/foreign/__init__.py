"""Reading, within limits, of files and of TOML and JSON that others have written."""
