"""What a turn is given: rules whole, standing memories once a session, and the few that match."""
