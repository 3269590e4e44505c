"""The contract, generated from proto/recall/v1 by `make proto`. Never edited."""
