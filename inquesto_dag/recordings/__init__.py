"""Recordings that nobody simulated: read, prepared, and measured with the annotator as it is."""
