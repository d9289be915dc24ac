"""The wire: DynamoDB's JSON on one side, typed requests and answers on the other.

AWS's words (`ExclusiveStartKey`) end here; inside, ours are used (`start_key`).
"""
