"""Who may use a server.

hosts             which Host and Origin headers are accepted
authentication    who sent a request: any client, or the user who signed it
signature         verify Signature Version 4
credentials       the users, their keys and policies, read from the credentials file
credentials_edit  change a credentials file, for the command line
"""
