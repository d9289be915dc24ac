"""Tracker: an issue tracker for many organisations, as a web service on one DynamoDB table.

design.py holds the table, its entities and 19 access patterns; app.py makes an endpoint of each.
Run it from the root of the repository, and open http://127.0.0.1:8000/docs:

    pip install '.[fastapi]' uvicorn
    uvicorn --factory examples.tracker.app:create_app
"""
