"""Items: where they are, what they are, and what belongs to them."""
