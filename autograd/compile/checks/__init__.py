"""What a program depends on, checked before it runs; and whether recordings and replays agree."""
