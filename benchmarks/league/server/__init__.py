"""Programs that run in the environments of peers, which need not have robustbo; see `serve`."""
