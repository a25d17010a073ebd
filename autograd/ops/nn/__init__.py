"""What layers are made of: convolutions, pooling, activations, norms, losses, attention, recurrent layers."""
