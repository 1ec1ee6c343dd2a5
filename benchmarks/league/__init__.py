"""The league: our methods and other libraries on one set of problems, each with its defaults."""
