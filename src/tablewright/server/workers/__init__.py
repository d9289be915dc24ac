"""A server of several processes.

main_process  accepts connections, commits all writes, does the periodic work
worker        serves connections, and reads from the file itself
relay         the messages between them, and the thread that runs the requests in them
processes     forks the workers
"""
