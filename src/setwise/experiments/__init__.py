"""What to play, as data; on all cores; with results that are kept by digest."""
