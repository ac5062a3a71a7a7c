"""What runs do: decisions, evidence, look-ups, hosts, queries and outcomes, counted from traces."""
