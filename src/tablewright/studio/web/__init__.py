"""The studio on HTTP: the server, who may use it, and what surrounds each page."""
