"""What a request accesses, and whether policies allow it.

requested_access   the actions, resources and condition keys of a request
authorization      checks the policies of the caller and of the table
account_scope      the region and account in ARNs
"""
