"""Views: one module for each; a view is a function from a request to a page or a response.

Each module lists its routes in `ROUTES`: (method, route) -> view.
"""
