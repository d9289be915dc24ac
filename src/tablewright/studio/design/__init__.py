"""What is derived from a design: findings, costs and documents."""
