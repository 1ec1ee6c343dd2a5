"""What has been asked and told: trials, the events that change them, and where these are kept."""
