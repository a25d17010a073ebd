"""The operations of layers: convolutions, pooling, activations, norms, losses, attention, recurrent layers."""
