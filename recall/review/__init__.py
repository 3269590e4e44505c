"""What a reviewer sees before a decision: likeness to what is in use, what changed, and every hidden character."""
