"""The same as code to copy: a call of a pattern, and the requests that it made.

    python      a program that connects, calls the pattern and runs its plan
    requests    the requests as calls of boto3, and as commands of the AWS CLI
    partiql     the requests as PartiQL, or the reason why PartiQL cannot express them

All is text that runs as it is. These modules must not know markup.
"""
