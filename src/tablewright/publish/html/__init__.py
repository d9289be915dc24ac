"""HTML: pages and diagrams as text, made without a browser and without scripts."""
