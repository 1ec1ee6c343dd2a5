"""Tables made of recorded cells."""
