"""The wire: converts between DynamoDB's JSON and typed requests and responses.

Only this package uses AWS's names (`ExclusiveStartKey`); all others use ours (`start_key`).
"""
