"""The documentation site: pages that are generated from the documents and the code."""
